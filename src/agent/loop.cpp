#include "agent/loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/resume.h"
#include "base/check.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::agent {
namespace {

constexpr std::size_t kCredentialBytesMax = 4096;
constexpr Duration kEnrolPause = std::chrono::milliseconds(200);

Hello identity_of(const LoopSettings& settings, const LoopPorts& ports) {
    return {.node = settings.node,
            .boot = settings.boot,
            .host = settings.host,
            .machine = settings.resources,
            .protections = ports.sandbox.protections()};
}

}  // namespace

std::string routes_of(NodeId node) { return "/lavant/v1/nodes/" + std::to_string(node.value); }

// One of the two links; turns what happens on it into events.
class Loop::Wire final : public ports::LinkHandler {
 public:
    Wire(Loop& loop, Link link) : loop_(loop), link_(link) {}
    void dial() {
        const std::string path =
            routes_of(loop_.settings_.node) + (link_ == Link::Control ? "/control" : "/bulk");
        kept_ = loop_.ports_.wire.keep_link(path, loop_.credential_, *this);
    }
    void send(const FromAgent& message) {
        if (kept_) kept_->send(wire::encode_frame(message));
    }
    void up() override { loop_.give(LinkUp{link_}); }
    void down() override { loop_.give(LinkDown{link_}); }
    void received(std::string_view frame) override {
        Result<ToAgent> message = wire::decode_to_agent(frame);
        if (message) return loop_.give(FromServer{std::move(*message)});
        log(Level::Warning, "bad_frame", {{"error", message.error().message}});
    }
    void refused(int status) override {
        log(Level::Warning, "link_refused", {{"status", std::to_string(status)}});
        if (status != 403) return;
        loop_.refused_ = true;
        loop_.give(Refused{});
    }

 private:
    Loop& loop_;
    Link link_;
    std::unique_ptr<ports::KeptLink> kept_;
};

Loop::Loop(LoopSettings settings, LoopPorts ports)
    : settings_(std::move(settings)),
      ports_(ports),
      machine_(identity_of(settings_, ports_), settings_.machine),
      spool_(settings_.folder),
      kept_(settings_.folder + "/kept"),
      alive_(std::make_shared<bool>(true)) {}

Loop::~Loop() {
    for (const auto& [ref, work] : work_) {
        if (work->pidfd >= 0) ports_.reactor.forget(work->pidfd);
    }
}

Result<void> Loop::start() {
    if (!settings_.machine_boot.empty())
        LAVANT_TRY_VOID(forget_tasks_of_another_boot(settings_.folder, settings_.machine_boot));
    LAVANT_TRY(Started started, recover());
    give(std::move(started));
    // Those that ended while no agent was there.
    std::vector<TaskRef> ended;
    for (const auto& [ref, work] : work_) {
        if (work->pidfd < 0) ended.push_back(ref);
    }
    for (const TaskRef& ref : ended) gone(ref);
    if (ended.size() < work_.size()) arm_poll();
    if (const Result<std::string> kept = read_file(settings_.folder + "/credential", kCredentialBytesMax)) {
        credential_ = *kept;
        dial();
    } else {
        enrol();
    }
    return {};
}

// --- enrolment ---

void Loop::enrol() {
    ports::ClientRequest request{.method = "POST",
                                 .url = routes_of(settings_.node) + "/enrol",
                                 .headers = {{"Authorization", "Bearer " + settings_.enrol_token}},
                                 .timeout_s = 30};
    const std::weak_ptr<bool> alive = alive_;
    ports_.wire.send(std::move(request), [this, alive](Result<ports::HttpResponse> answer) {
        if (!alive.expired()) enrolled(answer);
    });
}

void Loop::enrolled(const Result<ports::HttpResponse>& answer) {
    if (answer && answer->status == 200) {
        const Result<wire::Json> body = wire::parse_json(answer->body);
        credential_ = body ? (*body)["credential"].string() : "";
        const Result<void> kept = write_file_atomically(settings_.folder + "/credential", credential_);
        if (credential_.empty() || !kept) {
            log(Level::Error, "enrol_failed",
                {{"error", kept ? "the answer has no credential" : kept.error().message}});
            return give(Refused{});
        }
        return dial();
    }
    if (answer && answer->status / 100 == 4 && answer->status != 429) {
        log(Level::Error, "enrol_refused",
            {{"status", std::to_string(answer->status)}, {"body", answer->body}});
        refused_ = true;
        return give(Refused{});
    }
    const std::weak_ptr<bool> alive = alive_;
    ports_.reactor.after(kEnrolPause, [this, alive] {
        if (!alive.expired()) enrol();
    });
}

void Loop::dial() {
    control_ = std::make_unique<Wire>(*this, Link::Control);
    bulk_ = std::make_unique<Wire>(*this, Link::Bulk);
    control_->dial();
    bulk_->dial();
}

// --- recovery ---

Result<Started> Loop::recover() {
    Started started;
    LAVANT_TRY(std::vector<SavedTask> saved, load_tasks(settings_.folder));
    std::vector<ports::ConfinedTask> known;
    for (SavedTask& task : saved) {
        const TaskRef ref = task.start.task;
        auto work = std::make_unique<Work>();
        work->paths = paths_in(task.folder);
        work->start = std::move(task.start);
        work->launch = std::move(task.launch);
        work->log_name = log_name_of(work->start);
        work->running = true;
        if (const Result<void> ready = set_up(*work); !ready)
            log(Level::Warning, "recovered_task_differs", {{"error", ready.error().message}});
        LAVANT_TRY(work->log, LogStream::open(work->paths.log_file, settings_.machine.log_window_bytes));
        LAVANT_TRY(const std::uint64_t length, work->log->measure());
        LAVANT_TRY_VOID(work->log->pull());
        started.tasks.push_back({.task = ref,
                                 .running_since = task.launched_at,
                                 .timeout = Duration(work->launch.timeout_micros),
                                 .log_bytes = length});
        known.push_back(work->confined);
        work_[ref] = std::move(work);
    }
    LAVANT_TRY(const std::vector<ports::RunningTask> running, ports_.sandbox.recover(known));
    for (const ports::RunningTask& task : running) {
        Work* work = find(task.ref);
        if (work == nullptr || task.pidfd < 0) continue;
        work->pidfd = task.pidfd;
        watch(*work);
    }
    struct stat status {};
    if (::stat((settings_.folder + "/heard").c_str(), &status) == 0)
        started.heard_at = from_micros(status.st_mtim.tv_sec * 1'000'000LL + status.st_mtim.tv_nsec / 1000);
    return started;
}

// The lease outlives the process: the file's time is when we said what the server answered last.
void Loop::remember_heard() {
    if (machine_.heard_at() - remembered_ < std::chrono::seconds(1)) return;
    remembered_ = machine_.heard_at();
    const std::string file = settings_.folder + "/heard";
    const std::int64_t micros = to_micros(remembered_);
    timespec at{};
    at.tv_sec = micros / 1'000'000;
    at.tv_nsec = micros % 1'000'000 * 1000;
    const timespec times[2] = {at, at};
    if (::utimensat(AT_FDCWD, file.c_str(), times, 0) == 0) return;
    if (write_file_atomically(file, "")) (void)::utimensat(AT_FDCWD, file.c_str(), times, 0);
}

// --- events ---

void Loop::give(Event event) {
    events_.push_back(std::move(event));
    if (!draining_) drain();
}

void Loop::drain() {
    draining_ = true;
    while (!events_.empty() && !left_) {
        const Event event = std::move(events_.front());
        events_.pop_front();
        for (Action& action : machine_.step(event, ports_.clock.now())) {
            std::visit([this](auto& known) { carry_out(known); }, action);
        }
    }
    draining_ = false;
    if (left_) return;
    remember_heard();
    arm_timer();
}

void Loop::arm_timer() {
    const std::optional<Instant> wake = machine_.next_wake();
    // A timer that comes too early only makes a tick that does nothing: cheaper than setting it anew for each
    // job.
    if (!wake || (timer_ != 0 && timer_at_ <= *wake)) return;
    ports_.reactor.cancel(timer_);
    timer_at_ = *wake;
    const Duration delay = std::max(*wake - ports_.clock.now(), Duration::zero());
    timer_ = ports_.reactor.after(delay, [this] {
        timer_ = 0;
        give(Tick{});
    });
}

Loop::Work* Loop::find(TaskRef task) {
    const auto found = work_.find(task);
    return found == work_.end() ? nullptr : found->second.get();
}

// --- running ---

void Loop::carry_out(agent::Launch& action) {
    Work* work = find(action.task);
    CHECK(work != nullptr, "a task is launched after it was prepared");
    Result<Fd> saved = save_launch(work->paths, work->start);
    Result<ports::RunningTask> started =
        saved ? ports_.sandbox.start(work->confined) : Result<ports::RunningTask>(fail(saved.error()));
    if (saved) work->saved = std::move(*saved);
    if (!started) {
        append_to_log(work->paths, "lavant: cannot start the command: " + started.error().message);
        give(LaunchFailed{action.task, started.error().message, close_log(*work)});
        return;
    }
    work->pidfd = started->pidfd;
    work->running = true;
    work->start.launch = {};
    watch(*work);
    arm_poll();
    give(Launched{action.task});
}

void Loop::watch(Work& work) {
    ports_.reactor.when_readable(work.pidfd, [this, task = work.confined.ref] { gone(task); });
}

void Loop::gone(TaskRef task) {
    Work* work = find(task);
    if (work == nullptr || !work->running) return;
    work->running = false;
    if (work->pidfd >= 0) ports_.reactor.forget(work->pidfd);
    work->pidfd = -1;
    const Result<ports::TaskExit> exit = ports_.sandbox.collect(task);
    Exited exited{.task = task, .exit = exit.value_or(ports::TaskExit{})};
    if (!exit) log(Level::Error, "collect_failed", {{"error", exit.error().message}});
    const std::string written = ports_.sandbox.written_files(work->confined);
    work->untouched = exit.has_value() && written == work->paths.working_folder &&
                      work->launch.code_uri.empty() && work->launch.inputs.empty() &&
                      work->launch.outputs.empty() && is_untouched(work->paths.folder);
    if (!work->untouched) {
        Uploads uploads = find_uploads(work->launch, work->paths, written);
        if (work->start.resume) leave_out_unchanged(uploads, work->paths);
        work->uploads = std::move(uploads.files);
        work->upload_problem = std::move(uploads.problem);
    }
    exited.has_files = !work->uploads.empty() || !work->upload_problem.empty();
    if (exited.exit.exit_code != 0) {
        constexpr std::size_t kTailBytes = 64U << 10;
        if (const Result<std::string> tail = work->log->tail(kTailBytes))
            exited.traceback_line = find_traceback_line(*tail);
    }
    const bool failed = !exited.exit.known || exited.exit.exit_code != 0 || exited.exit.signal != 0;
    if (failed) keep_if_asked(*work);
    exited.log_bytes = close_log(*work);
    if (exited.log_bytes <= limits::kReportedLogBytes && work->log)
        exited.log = work->log->whole().value_or("");
    give(std::move(exited));
}

// Says in the log's last line where the folder will be once the task is forgotten.
void Loop::keep_if_asked(Work& work) {
    const TaskRef task = work.confined.ref;
    if (!work.launch.keep_on_failure || work.paths.folder.empty() || !machine_.ends_by_itself(task)) return;
    work.kept = true;
    const std::string note =
        "lavant: the task failed; its folder is kept for inspection while the node is "
        "there, on " +
        to_string(settings_.node) + " at " + kept_.place_of(task);
    const std::string tail = work.log ? work.log->tail(note.size() + 1).value_or("") : "";
    if (tail == note + "\n") return;  // said by an earlier agent process
    append_to_log(work.paths, (tail.empty() || tail.ends_with('\n') ? "" : "\n") + note);
}

void Loop::carry_out(Signal& action) {
    const Result<void> sent = ports_.sandbox.signal(action.task, action.number);
    if (!sent) log(Level::Warning, "signal_failed", {{"error", sent.error().message}});
}

void Loop::carry_out(Kill& action) {
    const Result<void> killed = ports_.sandbox.kill(action.task);
    if (!killed) log(Level::Warning, "kill_failed", {{"error", killed.error().message}});
}

// --- saying ---

void Loop::carry_out(Say& action) {
    if (control_) control_->send(action.message);
}

void Loop::carry_out(SendLog& action) {
    Work* work = find(action.task);
    if (work == nullptr || !work->log || !bulk_) return;
    for (std::uint64_t at = action.from; at < action.to;) {
        const std::uint64_t end = std::min<std::uint64_t>(action.to, at + limits::kLogChunkBytes);
        const std::string_view bytes = work->log->bytes(at, end);
        if (bytes.empty()) return;
        bulk_->send(LogBytes{action.task, work->log_name, at, std::string(bytes)});
        at += bytes.size();
    }
}

void Loop::carry_out(KeepLog& action) {
    Work* work = find(action.task);
    if (work == nullptr || !work->log) return;
    const Result<void> kept = work->log->keep(action.durable);
    if (!kept) log(Level::Error, "task_log_unreadable", {{"error", kept.error().message}});
}

void Loop::pull(Work& work) {
    const Result<std::uint64_t> length = work.log->pull();
    if (length) return give(LogGrew{work.confined.ref, *length});
    log(Level::Error, "task_log_unreadable", {{"error", length.error().message}});
}

std::uint64_t Loop::close_log(Work& work) {
    if (!work.log) {
        Result<LogStream> opened = LogStream::open(work.paths.log_file, settings_.machine.log_window_bytes);
        if (!opened) return 0;
        work.log = std::move(*opened);
    }
    const Result<std::uint64_t> length = work.log->close();
    if (!length) log(Level::Error, "task_log_unreadable", {{"error", length.error().message}});
    return length.value_or(0);
}

void Loop::arm_poll() {
    if (polling_) return;
    polling_ = true;
    ports_.reactor.after(settings_.log_poll, [this] {
        polling_ = false;
        poll_logs();
    });
}

void Loop::poll_logs() {
    bool any = false;
    for (const auto& [ref, work] : work_) {
        if (!work->running || !work->log) continue;
        any = true;
        pull(*work);
    }
    if (any) arm_poll();
}

// --- the end ---

void Loop::carry_out(StageOutputs& action) {
    Work* work = find(action.task);
    CHECK(work != nullptr, "outputs are staged of a task that exited");
    const ServerAccess access{ports_.reactor, ports_.wire, routes_of(settings_.node), credential_};
    const bool any = !work->uploads.empty();
    work->staging = std::make_shared<Transfer>(
        access, staging_requests(access, action.task, work->uploads),
        [this, task = action.task, any, problem = work->upload_problem](const Result<void>& result) {
            give(OutputsStaged{task, any && result, result ? problem : result.error().message});
        });
    work->uploads.clear();
    work->staging->start();
}

void Loop::carry_out(Forget& action) {
    const auto found = work_.find(action.task);
    if (found == work_.end()) return;
    if (found->second->pidfd >= 0) ports_.reactor.forget(found->second->pidfd);
    ports_.sandbox.release(action.task);
    clear_away(*found->second);
    work_.erase(found);
}

// A forgotten task's folder is kept where its job asked for it, used again where it can be, and removed
// otherwise.
void Loop::clear_away(const Work& work) {
    if (work.paths.folder.empty()) return;
    if (work.kept) {
        const Result<void> kept = kept_.take(work.confined.ref, work.paths.folder);
        if (!kept) log(Level::Warning, "task_not_kept", {{"error", kept.error().message}});
    } else if (work.untouched && work.saved && blank_launch(work.saved)) {
        return spool_.give_back(work.paths.folder, work.launch.user);
    }
    const Result<void> removed = remove_tree(work.paths.folder);
    if (!removed) log(Level::Warning, "spool_not_removed", {{"error", removed.error().message}});
}

void Loop::carry_out(Leave&) {
    left_ = true;
    for (const auto& [ref, work] : work_) {
        if (work->pidfd >= 0) ports_.reactor.forget(work->pidfd);
        work->pidfd = -1;
        ports_.sandbox.release(ref);
    }
    ports_.reactor.stop();
}

}  // namespace lavant::agent
