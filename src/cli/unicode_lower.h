#pragma once
#include <string>

namespace lavant::cli {

// Lower case of every script, as Python's str.lower() gives it: the order of files in a content hash depends
// on it. (The one rule left out is the Greek final sigma.)
std::u32string lower(std::u32string text);

}  // namespace lavant::cli
