#include "core/model/site_size.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"

namespace lavant {
namespace {

using Problems = std::vector<FieldProblem>;

constexpr double kGib = 1LL << 30;
constexpr double kMicros = 1e6;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= kSizeNameChars && is_letter(text.front()) &&
           std::ranges::all_of(
               text, [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-'; });
}

const char* const kNameRule = "has 1 to 64 letters, digits, '_' and '-', and begins with a letter";

void check_name(const std::string& name, Problems& problems) {
    if (!is_name(name)) {
        problems.push_back({"name", kNameRule});
    } else if (equals_ignoring_case(name, kLocalSize)) {
        problems.push_back({"name", "'local' is the whole machine; choose another name"});
    } else if (is_azure_size_name(name)) {
        problems.push_back(
            {"name", "names that begin with 'Standard_' or 'Basic_' are Azure's; choose another name"});
    }
}

// Written so that what is no number fails.
void check_range(const char* field, double value, double least, double most, const char* range,
                 Problems& problems) {
    if (!(value >= least && value <= most)) problems.push_back({field, std::string("must be from ") + range});
}

}  // namespace

Result<Size> check_site_size(const SiteSize& asked) {
    Problems problems;
    check_name(asked.name, problems);
    if (!asked.family.empty() && !is_name(asked.family)) problems.push_back({"family", kNameRule});
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    check_range("vcpus", number(asked.vcpus), 1, number(kSizeVcpusMax), "1 to 1024", problems);
    check_range("memoryGib", asked.memory_gib, kSizeMemoryGibMin, kSizeMemoryGibMax, "0.25 to 65536",
                problems);
    check_range("gpus", number(asked.gpus), 0, number(kSizeGpusMax), "0 to 64", problems);
    check_range("diskGib", number(asked.disk_gib), 0, number(kSizeDiskGibMax), "0 to 1048576", problems);
    check_range("price", asked.price, 0, kSizePriceMax, "0 to 1000000", problems);
    if (asked.low_priority_price)
        check_range("lowPriorityPrice", *asked.low_priority_price, 0, kSizePriceMax, "0 to 1000000",
                    problems);
    if (!problems.empty()) {
        std::string message = "this is no size";
        for (const FieldProblem& one : problems) message += "\n  " + one.path + ": " + one.message;
        return fail(Error{ErrorCode::InvalidArgument, std::move(message), std::move(problems)});
    }
    Size size{.name = asked.name,
              .family = asked.family.empty() ? std::string(kSiteFamily) : asked.family,
              .resources = {.cpu_millis = asked.vcpus * 1000,
                            .memory_bytes = std::llround(asked.memory_gib * kGib),
                            .gpus = static_cast<int>(asked.gpus)},
              .disk_gib = asked.disk_gib,
              .price = std::llround(asked.price * kMicros)};
    size.low_priority_price = asked.low_priority_price ? std::llround(*asked.low_priority_price * kMicros)
                                                       : size.price / kLowPriorityShare;
    size.origin = SizeOrigin::Site;
    return size;
}

}  // namespace lavant
