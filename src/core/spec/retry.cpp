#include <algorithm>

#include "base/text.h"
#include "core/spec/command_job.h"
#include "core/spec/problems.h"

namespace lavant::spec {
namespace {

constexpr std::string_view kMaxRetries = "lavant.max_retries";
constexpr std::string_view kRetryOn = "lavant.retry_on";
constexpr std::string_view kKeepOnFailure = "lavant.keep_on_failure";
constexpr std::string_view kSandbox = "lavant.sandbox";
constexpr std::string_view kPythonHome = "lavant.python_home";
constexpr std::string_view kRerunOf = "lavant.rerun_of";
constexpr std::string_view kPreemptionGrace = "lavant.preemption_grace";
constexpr std::string_view kNotify = "lavant.notify";
constexpr std::size_t kUrlCharsMost = 2048;
constexpr std::int64_t kRetriesMost = 100;
constexpr std::int64_t kGraceSecondsMost = 3600;

const std::string* find_in(const std::map<std::string, std::string>& properties, std::string_view key) {
    const auto found = properties.find(std::string(key));
    return found == properties.end() ? nullptr : &found->second;
}

// "" if fine, else what is wrong.
std::string read_retry_on(std::string_view text, RetryPolicy& policy) {
    policy.on_node_lost = policy.on_preempted = policy.on_out_of_memory = false;
    policy.on_exit_codes.clear();
    for (std::string_view part : split(text, ',')) {
        const std::string cause = to_lower(trim(part));
        if (cause == "node_lost") {
            policy.on_node_lost = true;
        } else if (cause == "preempted") {
            policy.on_preempted = true;
        } else if (cause == "oom") {
            policy.on_out_of_memory = true;
        } else if (cause.starts_with("exit:")) {
            const auto code = parse_integer(std::string_view(cause).substr(5));
            if (!code || *code < 1 || *code > 255) {
                return "'" + cause + "' must name an exit code between 1 and 255, like exit:42";
            }
            policy.on_exit_codes.push_back(static_cast<int>(*code));
        } else if (!cause.empty() || trim(text).size() > 0) {
            return "'" + cause + "' is not a cause" +
                   suggestion(cause, {"node_lost", "preempted", "oom", "exit:N"});
        }
    }
    return "";
}

std::string read_max_retries(std::string_view text, RetryPolicy& policy) {
    const auto number = parse_integer(trim(text));
    if (!number || *number < 0 || *number > kRetriesMost) {
        return "must be a whole number between 0 and " + std::to_string(kRetriesMost) + ", not '" +
               std::string(text) + "'";
    }
    policy.retries_max = static_cast<int>(*number);
    return "";
}

std::string read_grace(std::string_view text, Duration& grace) {
    const auto number = parse_integer(trim(text));
    if (!number || *number < 0 || *number > kGraceSecondsMost)
        return "must be a whole number of seconds between 0 and " + std::to_string(kGraceSecondsMost) +
               ", not '" + std::string(text) + "'";
    grace = std::chrono::seconds(*number);
    return "";
}

std::string check_switch(std::string_view text) {
    for (std::string_view word : {"true", "false", "on", "off", "yes", "no"}) {
        if (equals_ignoring_case(text, word)) return "";
    }
    return "must be \"true\" or \"false\", not '" + std::string(text) + "'";
}

// A webhook: who is told of the job's statuses.
std::string check_url(std::string_view text) {
    const bool odd = std::ranges::any_of(text, [](char c) {
        return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f;
    });
    const std::size_t scheme = text.starts_with("https://") ? 8 : text.starts_with("http://") ? 7 : 0;
    const std::string_view host = text.substr(scheme, text.find_first_of("/?#", scheme) - scheme);
    if (scheme == 0 || host.empty() || odd || text.size() > kUrlCharsMost)
        return "must be an http or https URL of at most " + std::to_string(kUrlCharsMost) + " characters";
    if (host.find('@') != std::string_view::npos) return "must not have a user or a password in it";
    return "";
}

std::string check_one(const std::string& key, const std::string& value) {
    RetryPolicy unused;
    if (key == kMaxRetries) return read_max_retries(value, unused);
    if (key == kRetryOn) return read_retry_on(value, unused);
    Duration ignored{};
    if (key == kPreemptionGrace) return read_grace(value, ignored);
    if (key == kKeepOnFailure || key == kSandbox) return check_switch(value);
    if (key == kPythonHome)
        return value.starts_with('/') ? "" : "must be an absolute path, not '" + value + "'";
    if (key == kNotify) return check_url(value);
    if (key == kRerunOf) return "";  // says where a job came from, and does nothing
    return "unknown key" +
           suggestion(key, {std::string(kMaxRetries), std::string(kRetryOn), std::string(kKeepOnFailure),
                            std::string(kSandbox), std::string(kPythonHome), std::string(kPreemptionGrace),
                            std::string(kNotify)});
}

}  // namespace

std::vector<FieldProblem> check_lavant_properties(const std::map<std::string, std::string>& properties) {
    std::vector<FieldProblem> problems;
    for (const auto& [key, value] : properties) {
        if (!key.starts_with("lavant.")) continue;
        std::string wrong = check_one(key, value);
        if (!wrong.empty()) problems.push_back({"properties." + key, std::move(wrong)});
    }
    return problems;
}

Duration parse_preemption_grace(const std::map<std::string, std::string>& properties) {
    Duration grace = Demand{}.grace;
    if (const std::string* text = find_in(properties, kPreemptionGrace)) (void)read_grace(*text, grace);
    return grace;
}

Result<RetryPolicy> parse_retry(const std::map<std::string, std::string>& properties) {
    RetryPolicy policy;
    Problems problems;
    if (const std::string* text = find_in(properties, kMaxRetries)) {
        const std::string wrong = read_max_retries(*text, policy);
        if (!wrong.empty()) problems.add("properties." + std::string(kMaxRetries), {}, wrong);
    }
    if (const std::string* text = find_in(properties, kRetryOn)) {
        const std::string wrong = read_retry_on(*text, policy);
        if (!wrong.empty()) problems.add("properties." + std::string(kRetryOn), {}, wrong);
    }
    if (!problems.empty()) return fail(problems.to_error("the retry policy"));
    return policy;
}

}  // namespace lavant::spec
