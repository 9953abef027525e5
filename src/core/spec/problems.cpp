#include "core/spec/problems.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace lavant::spec {
namespace {

constexpr std::size_t kProblemsMost = 100;  // More help nobody, and a hostile file may have fifty thousand.

std::string one_line(const FieldProblem& problem) {
    std::string line = problem.path.empty() ? problem.message : problem.path + ": " + problem.message;
    if (problem.line > 0) {
        line += " (line " + std::to_string(problem.line) + ", column " + std::to_string(problem.column) + ")";
    }
    return line;
}

}  // namespace

void Problems::add(std::string path, Position at, std::string message) {
    if (found_.size() >= kProblemsMost) return;
    if (!file_.empty()) message = "in " + file_ + ": " + message;
    // A part that two readers look at is wrong once.
    const bool said = std::ranges::any_of(found_, [&](const FieldProblem& one) {
        return one.path == path && one.message == message && one.line == at.line && one.column == at.column;
    });
    if (said) return;
    found_.push_back({std::move(path), std::move(message), at.line, at.column});
}

void Problems::forget_missing(const std::string& path) {
    std::erase_if(found_, [&path](const FieldProblem& problem) {
        return problem.path == path && problem.message.starts_with("is missing");
    });
}

Error Problems::to_error(std::string_view subject) const {
    std::vector<FieldProblem> found = found_;
    // Those that have no place, as what --set said, come last.
    std::ranges::stable_sort(
        found, {}, [](const FieldProblem& one) { return std::tuple(one.line == 0, one.line, one.column); });
    std::string message(subject);
    if (found.size() == 1) {
        message += " is not valid: " + one_line(found[0]);
    } else {
        message += " has " + std::to_string(found.size()) + " problems";
        for (const FieldProblem& problem : found) message += "\n  " + one_line(problem);
    }
    return {ErrorCode::InvalidArgument, std::move(message), std::move(found)};
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
    if (const auto near = nearest(word, known)) return "; did you mean '" + *near + "'?";
    if (known.empty() || known.size() > 40) return "";
    return "; known here: " + listed(known);
}

}  // namespace lavant::spec
