#include "wire/codec.h"

namespace lavant::wire {
namespace {

constexpr int kSkipDepth = 32;

}  // namespace

void CborWriter::head(unsigned major, std::uint64_t value) {
    const auto lead = static_cast<unsigned>(major << 5U);
    auto put = [this](std::uint64_t number, int bytes) {
        for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
            out_ += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xffU);
    };
    if (value < 24) {
        out_ += static_cast<char>(lead | static_cast<unsigned>(value));
    } else if (value <= 0xff) {
        out_ += static_cast<char>(lead | 24U);
        put(value, 1);
    } else if (value <= 0xffff) {
        out_ += static_cast<char>(lead | 25U);
        put(value, 2);
    } else if (value <= 0xffffffff) {
        out_ += static_cast<char>(lead | 26U);
        put(value, 4);
    } else {
        out_ += static_cast<char>(lead | 27U);
        put(value, 8);
    }
}

void CborWriter::integer(std::int64_t value) {
    if (value >= 0) {
        head(0, static_cast<std::uint64_t>(value));
    } else {
        head(1, static_cast<std::uint64_t>(-(value + 1)));
    }
}

void CborWriter::bytes(std::string_view value) {
    head(2, value.size());
    out_ += value;
}

void CborWriter::text(std::string_view value) {
    head(3, value.size());
    out_ += value;
}

void CborWriter::array(std::size_t count) { head(4, count); }
void CborWriter::map(std::size_t count) { head(5, count); }
void CborWriter::boolean(bool value) { head(7, value ? 21 : 20); }
void CborWriter::null() { head(7, 22); }

CborReader::Head CborReader::head() {
    if (failed_ || rest_.empty()) {
        failed_ = true;
        return {};
    }
    const auto lead = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    Head result{static_cast<unsigned>(lead >> 5U), lead & 31U};
    if (result.value < 24) return result;
    if (result.value > 27) {
        failed_ = true;
        return {};
    }
    const std::size_t width = std::size_t{1} << (result.value - 24);
    if (rest_.size() < width) {
        failed_ = true;
        return {};
    }
    result.value = 0;
    for (std::size_t i = 0; i < width; ++i)
        result.value = (result.value << 8U) | static_cast<unsigned char>(rest_[i]);
    rest_.remove_prefix(width);
    return result;
}

std::int64_t CborReader::integer() {
    const Head found = head();
    if (found.major > 1 || found.value > INT64_MAX) {
        failed_ = true;
        return 0;
    }
    const auto value = static_cast<std::int64_t>(found.value);
    return found.major == 0 ? value : -1 - value;
}

std::string_view CborReader::bytes() {
    const Head found = head();
    if ((found.major != 2 && found.major != 3) || found.value > rest_.size()) {
        failed_ = true;
        return {};
    }
    const std::string_view result = rest_.substr(0, static_cast<std::size_t>(found.value));
    rest_.remove_prefix(result.size());
    return result;
}

// Each element takes at least one byte, so a count above what is left is a lie.
std::size_t CborReader::array() {
    const Head found = head();
    if (found.major != 4 || found.value > rest_.size()) {
        failed_ = true;
        return 0;
    }
    return static_cast<std::size_t>(found.value);
}

std::size_t CborReader::map() {
    const Head found = head();
    if (found.major != 5 || found.value > rest_.size() / 2) {
        failed_ = true;
        return 0;
    }
    return static_cast<std::size_t>(found.value);
}

bool CborReader::boolean() {
    const Head found = head();
    if (found.major != 7 || (found.value != 20 && found.value != 21)) failed_ = true;
    return found.value == 21;
}

bool CborReader::take_null() {
    if (rest_.empty() || static_cast<unsigned char>(rest_.front()) != 0xf6) return false;
    rest_.remove_prefix(1);
    return true;
}

void CborReader::skip(int depth) {
    const Head found = head();
    if (failed_) return;
    if (depth > kSkipDepth) return fail();
    switch (found.major) {
        case 0:
        case 1:
            return;
        case 2:
        case 3:
            if (found.value > rest_.size()) return fail();
            rest_.remove_prefix(static_cast<std::size_t>(found.value));
            return;
        case 4:
        case 5: {
            const std::uint64_t items = found.major == 4 ? found.value : found.value * 2;
            if (found.value > rest_.size() || items > rest_.size()) return fail();
            for (std::uint64_t i = 0; i < items && !failed_; ++i) skip(depth + 1);
            return;
        }
        case 7:
            return;
        default:
            return fail();
    }
}

}  // namespace lavant::wire
