#pragma once
// JSON as Python's json.dumps(value, sort_keys=True) writes it: what azure-ai-ml hashes, so whoever wants the
// same hash needs the same bytes.

#include <string>

#include "wire/json.h"

namespace lavant::wire {

std::string python_json(const Json& value);

// The bytes whose SHA-256 names an anonymous component: its specification without what does not make it
// another one (its name, version, id and source).
std::string component_fingerprint_text(const Json& component_spec);

}  // namespace lavant::wire
