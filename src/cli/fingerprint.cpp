#include "cli/fingerprint.h"

#include "base/files.h"
#include "base/text.h"

namespace lavant::cli {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
constexpr std::size_t kLineChars = 64;
constexpr std::size_t kDigits = 64;  // of a SHA-256

std::optional<std::string> first_der(std::string_view pem) {
    const std::size_t begin = pem.find(kBegin);
    if (begin == std::string_view::npos) return std::nullopt;
    pem.remove_prefix(begin + kBegin.size());
    const std::size_t end = pem.find(kEnd);
    if (end == std::string_view::npos) return std::nullopt;
    std::string digits;
    for (const char c : pem.substr(0, end))
        if (c != '\n' && c != '\r' && c != ' ' && c != '\t') digits += c;
    auto der = base64_decode(digits);
    if (!der || der->empty()) return std::nullopt;
    return der;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::string with_colons(std::string_view digits) {
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && i % 2 == 0) out += ':';
        out += upper(digits[i]);
    }
    return out;
}

}  // namespace

std::optional<std::string> first_certificate(std::string_view pem) {
    const auto der = first_der(pem);
    if (!der) return std::nullopt;
    const std::string digits = base64_encode(*der);
    std::string out = std::string(kBegin) + "\n";
    for (std::size_t at = 0; at < digits.size(); at += kLineChars)
        out += digits.substr(at, kLineChars) + "\n";
    return out + std::string(kEnd) + "\n";
}

std::string fingerprint_of(std::string_view pem, ports::Crypto& crypto) {
    const auto der = first_der(pem);
    return der ? with_colons(to_hex(crypto.sha256(*der))) : "";
}

std::string fingerprint_of_file(const std::string& path, ports::Crypto& crypto) {
    const auto pem = read_file(path, kCertificateBytesMax);
    return pem ? fingerprint_of(*pem, crypto) : "";
}

std::string normal_fingerprint(std::string_view text) {
    text = trim(text);
    if (const std::size_t equals = text.rfind('='); equals != std::string_view::npos)
        text.remove_prefix(equals + 1);
    if (to_lower(text.substr(0, 7)) == "sha256:") text.remove_prefix(7);
    std::string digits;
    for (const char c : text) {
        if (c == ':' || c == ' ') continue;
        const char digit = upper(c);
        if (!((digit >= '0' && digit <= '9') || (digit >= 'A' && digit <= 'F'))) return "";
        digits += digit;
    }
    return digits.size() == kDigits ? with_colons(digits) : "";
}

}  // namespace lavant::cli
