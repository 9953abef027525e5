#pragma once
// YAML as Python's library writes it: keys sorted, block style, quotes where that library puts them. Azure's
// client sends a conda file in this form and hashes it, so that ours must have the same bytes.

#include <string>

#include "core/spec/document.h"

namespace lavant::wire {

std::string python_yaml(const spec::Document& document);

}  // namespace lavant::wire
