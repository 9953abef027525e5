#pragma once
// Certificates as the command line needs them: one in PEM, and the SHA-256 by which people compare it.

#include <optional>
#include <string>
#include <string_view>

#include "ports/crypto.h"

namespace lavant::cli {

// The first certificate of a PEM text, alone and in its usual form; nothing if there is none.
std::optional<std::string> first_certificate(std::string_view pem);
// Of the first certificate: "AB:CD:..."; "" if there is none.
std::string fingerprint_of(std::string_view pem, ports::Crypto& crypto);
std::string fingerprint_of_file(const std::string& path, ports::Crypto& crypto);
// As people paste it: with or without colons, in any case, with "sha256:" or "SHA256 Fingerprint=" before it.
// "" if it is none.
std::string normal_fingerprint(std::string_view text);

inline constexpr std::size_t kCertificateBytesMax = 64U << 10;

}  // namespace lavant::cli
