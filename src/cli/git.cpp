#include "cli/git.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <vector>

#include "base/files.h"
#include "base/text.h"

extern char** environ;

namespace lavant::cli {
namespace {

constexpr std::size_t kAnswerBytesMax = 64U << 10;
constexpr std::size_t kDiffBytesMax = 1U << 20;

struct Answer {
    std::string text;
    bool cut = false;  // there was more
};

constexpr int kPatienceMs = 10'000;  // for one answer

// Standard output of `git ARGUMENTS`, if it ended well or was cut off.
std::optional<Answer> git(std::vector<std::string> arguments, std::size_t bytes_max = kAnswerBytesMax,
                          const std::vector<std::string>& settings = {}) {
    // A repository may name programs to run in its configuration; it came from somebody else.
    std::vector<std::string> words{"git",
                                   "-c",
                                   "core.fsmonitor=false",
                                   "-c",
                                   "core.hooksPath=/dev/null",
                                   "-c",
                                   "core.pager=cat",
                                   "--no-optional-locks"};
    for (const std::string& setting : settings) words.insert(words.end(), {"-c", setting});
    words.insert(words.end(), std::make_move_iterator(arguments.begin()),
                 std::make_move_iterator(arguments.end()));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
    Fd ours(ends[0]);
    Fd theirs(ends[1]);
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), 1);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    ::pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, "git", &actions, nullptr, pointers.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    theirs = Fd();
    if (error != 0) return std::nullopt;
    Answer answer;
    std::array<char, 16384> bytes{};
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
    while (!answer.cut) {
        ::pollfd waiting{ours.get(), POLLIN, 0};
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(0, left.count()))) == 0) {
            ::kill(pid, SIGKILL);
            break;
        }
        const ssize_t got = ::read(ours.get(), bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        answer.text.append(bytes.data(), static_cast<std::size_t>(got));
        answer.cut = answer.text.size() > bytes_max;
    }
    ours = Fd();  // It gets SIGPIPE if it has more to say.
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!answer.cut && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) return std::nullopt;
    return answer;
}

// Filters are programs too, and `status` and `diff` would run them: each is set to none.
std::vector<std::string> without_filters() {
    std::vector<std::string> settings;
    const auto named = git({"config", "--name-only", "--get-regexp", "^filter\\."});
    if (!named) return settings;
    for (const std::string_view key : split(named->text, '\n')) {
        if (key.ends_with(".required")) settings.push_back(std::string(key) + "=false");
        if (key.ends_with(".clean") || key.ends_with(".smudge") || key.ends_with(".process"))
            settings.push_back(std::string(key) + "=");
    }
    return settings;
}

std::string line_of(const std::optional<Answer>& answer) {
    return answer && !answer->cut ? std::string(trim(answer->text)) : std::string();
}

// Looked for first: outside of a repository no program is started.
bool is_in_repository() {
    for (std::string folder = working_folder();; folder = parent_of(folder)) {
        if (::access((folder + "/.git").c_str(), F_OK) == 0) return true;
        if (folder.size() <= 1) return false;
    }
}

bool is_true(std::string_view text) { return equals_ignoring_case(trim(text), "true") || trim(text) == "1"; }

}  // namespace

std::string without_credentials(std::string url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos) return url;  // git@host:path names a user, not a secret
    url.resize(std::min(url.find_first_of("?#"), url.size()));
    std::string clean = url.substr(0, scheme + 3);
    bool first = true;
    for (const std::string_view segment : split(std::string_view(url).substr(scheme + 3), '/')) {
        const std::size_t at = segment.rfind('@');
        if (!first) clean += '/';
        clean += at == std::string_view::npos ? segment : segment.substr(at + 1);
        first = false;
    }
    return clean;
}

GitState read_git(bool with_diff, const std::function<std::string(const std::string&)>& variable) {
    GitState state;
    std::string repository = variable("AZUREML_GIT_REPOSITORY_URI");
    std::string branch = variable("AZUREML_GIT_BRANCH");
    std::string commit = variable("AZUREML_GIT_COMMIT");
    std::string dirty = variable("AZUREML_GIT_DIRTY");
    if (is_in_repository() && is_true(line_of(git({"rev-parse", "--is-inside-work-tree"})))) {
        if (repository.empty()) repository = line_of(git({"ls-remote", "--get-url"}));
        if (branch.empty()) branch = line_of(git({"symbolic-ref", "--short", "HEAD"}));
        if (commit.empty()) commit = line_of(git({"rev-parse", "HEAD"}));
        const std::vector<std::string> settings = without_filters();
        const auto changes =
            git({"status", "--porcelain", "--ignore-submodules=all", "."}, kAnswerBytesMax, settings);
        if (dirty.empty() && changes && !changes->text.empty()) dirty = "true";
        if (with_diff && is_true(dirty)) {
            auto diff = git(
                {"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all", "HEAD"},
                kDiffBytesMax, settings);
            state.diff_too_large = diff && diff->cut;
            if (diff && !diff->cut) state.diff = std::move(diff->text);
        }
    }
    const auto keep = [&state](const char* key, std::string value) {
        if (!value.empty()) state.properties[key] = std::move(value);
    };
    keep("mlflow.source.git.repoURL", without_credentials(std::move(repository)));
    keep("mlflow.source.git.branch", std::move(branch));
    keep("mlflow.source.git.commit", std::move(commit));
    if (!dirty.empty()) keep("azureml.git.dirty", is_true(dirty) ? "True" : "False");
    keep("azureml.git.build_id", variable("AZUREML_GIT_BUILD_ID"));
    keep("azureml.git.build_uri", without_credentials(variable("AZUREML_GIT_BUILD_URI")));
    return state;
}

}  // namespace lavant::cli
