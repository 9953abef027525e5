#include "core/model/compute.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace lavant {
namespace {

struct KindNames {
    std::string_view name;
    std::string_view arm;
};

KindNames names_of(ComputeKind kind) {
    switch (kind) {
        case ComputeKind::Cluster:
            return {"amlcompute", "AmlCompute"};
        case ComputeKind::Instance:
            return {"computeinstance", "ComputeInstance"};
        case ComputeKind::VirtualMachine:
            return {"virtualmachine", "VirtualMachine"};
        case ComputeKind::Kubernetes:
            return {"kubernetes", "Kubernetes"};
        case ComputeKind::SynapseSpark:
            return {"synapsespark", "SynapseSpark"};
        case ComputeKind::Aks:
            return {"aks", "AKS"};
        case ComputeKind::DataFactory:
            return {"datafactory", "DataFactory"};
        case ComputeKind::HdInsight:
            return {"hdinsight", "HDInsight"};
        case ComputeKind::Databricks:
            return {"databricks", "Databricks"};
        case ComputeKind::DataLakeAnalytics:
            return {"datalakeanalytics", "DataLakeAnalytics"};
    }
    CHECK(false, "compute kind outside its enum");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A blank, a control character and a piece of UTF-8 are said in words: they would not be seen, or do harm.
std::string shown(char c) {
    if (c == ' ') return "a blank";
    if (c < ' ' || c == '\x7f') return "a character that cannot be seen";
    return std::string("'") + c + "'";
}

std::string wrong_characters(std::string_view name) {
    std::string found;
    for (const char c : name) {
        if (is_letter(c) || is_digit(c) || c == '-') continue;
        const std::string one = shown(c);
        if (found.find(one) != std::string::npos) continue;
        found += (found.empty() ? "" : ", ") + one;
    }
    return found;
}

std::vector<std::string> check_attached_name(std::string_view name) {
    std::vector<std::string> broken;
    if (name.size() > kAttachedNameCharsMost)
        broken.push_back("is too long: at most " + std::to_string(kAttachedNameCharsMost) + " characters");
    if (name == "." || name == ".." || valid_utf8_bytes(name) != name.size() ||
        std::ranges::any_of(name, [](char c) {
            return c == '/' || c == '\\' || static_cast<unsigned char>(c) < ' ' || c == '\x7f';
        }))
        broken.emplace_back("has a character that a name cannot have, as '/'");
    return broken;
}

}  // namespace

std::string_view name_of(ComputeKind kind) { return names_of(kind).name; }
std::string_view arm_name_of(ComputeKind kind) { return names_of(kind).arm; }

std::optional<ComputeKind> parse_compute_kind(std::string_view name) {
    for (const ComputeKind kind : kEveryComputeKind)
        if (equals_ignoring_case(name, name_of(kind))) return kind;
    return std::nullopt;
}

bool is_no_compute(std::string_view name) {
    return equals_ignoring_case(name, "local") || equals_ignoring_case(name, "serverless");
}

std::vector<std::string> check_compute_name(ComputeKind kind, std::string_view name) {
    if (name.empty()) return {"is missing; say what to call the compute"};
    if (is_no_compute(name))
        return {"cannot be '" + std::string(name) +
                "': jobs say that when they want no compute of their own; choose another"};
    if (is_attached(kind)) return check_attached_name(name);
    std::vector<std::string> broken;
    const std::string length = "it has " + std::to_string(kComputeNameCharsLeast) + " to " +
                               std::to_string(kComputeNameCharsMost) + " characters, and this one " +
                               std::to_string(name.size());
    if (name.size() < kComputeNameCharsLeast) broken.push_back("is too short: " + length);
    if (name.size() > kComputeNameCharsMost) broken.push_back("is too long: " + length);
    // A file may be hostile: no more of it is quoted than a name could have.
    const std::string_view part = name.substr(0, 4 * kComputeNameCharsMost);
    const bool plain = std::ranges::all_of(part, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!plain) {
        broken.emplace_back("has a letter that is not one of a to z; there are only those, digits and '-'");
    } else if (const std::string wrong = wrong_characters(part); !wrong.empty()) {
        broken.push_back("has " + wrong + "; there are only letters, digits and '-'");
    }
    if (!is_letter(name.front())) broken.emplace_back("must begin with a letter");
    const std::size_t dash = name.rfind('-');
    if (dash != std::string_view::npos && std::ranges::none_of(name.substr(dash), is_letter))
        broken.emplace_back("needs a letter somewhere behind its last '-'");
    return broken;
}

std::vector<ScaleProblem> check_scale(const Scale& scale) {
    using Of = ScaleProblem::Of;
    std::vector<ScaleProblem> problems;
    const std::string most = std::to_string(kClusterNodesMost);
    bool counts_are_good = true;
    const auto wrong_count = [&](Of of, std::string message) {
        counts_are_good = false;
        problems.push_back({of, std::move(message)});
    };
    if (scale.nodes_min && *scale.nodes_min < 0) wrong_count(Of::Min, "must not be negative");
    if (scale.nodes_min && *scale.nodes_min > kClusterNodesMost)
        wrong_count(Of::Min, "must be at most " + most);
    if (scale.nodes_max && *scale.nodes_max < 0) wrong_count(Of::Max, "must not be negative");
    if (scale.nodes_max && *scale.nodes_max == 0)
        wrong_count(
            Of::Max,
            "must be at least 1: no job could ever run; a minimum of 0 is what lets it scale to zero");
    if (scale.nodes_max && *scale.nodes_max > kClusterNodesMost)
        wrong_count(Of::Max, "must be at most " + most);
    if (counts_are_good && scale.nodes_min && scale.nodes_max && *scale.nodes_min > *scale.nodes_max)
        wrong_count(Of::Min, "is " + std::to_string(*scale.nodes_min) + ", above the maximum of " +
                                 std::to_string(*scale.nodes_max));
    if (scale.idle_seconds && *scale.idle_seconds < 0)
        problems.push_back({Of::Idle, "must not be negative; 0 releases a node as soon as it is idle"});
    if (scale.idle_seconds && *scale.idle_seconds > kIdleSecondsMost)
        problems.push_back(
            {Of::Idle, "must be at most " + std::to_string(kIdleSecondsMost) +
                           " seconds, which is 30 days; to keep nodes for ever, raise the minimum"});
    return problems;
}

}  // namespace lavant
