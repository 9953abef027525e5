#include "cli/job_stream.h"

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/advice.h"
#include "cli/companion.h"
#include "cli/job_commands.h"
#include "cli/local_server.h"
#include "wire/az_job.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kReconnectsMax = 200;
constexpr int kReconnectPauseMs = 100;
constexpr int kRestartEvery = 10;  // reconnects
constexpr int kWaitSeconds = 30;
constexpr int kAskSeconds = 1;  // Somebody waits for a word.
constexpr std::size_t kTailBytes = 64U << 10;
constexpr std::size_t kTailLines = 20;

struct LogRead {
    std::uint64_t printed = 0;
    std::string tail;  // the last bytes, for advice

    void take(std::string_view bytes) {
        printed += bytes.size();
        tail += bytes;
        if (tail.size() > 2 * kTailBytes) tail.erase(0, tail.size() - kTailBytes);
    }
};

// One connection of the log; what it delivered is printed and counted.
Outcome<void> follow_log(Session& session, Companion& companion, const std::string& name, LogRead& progress) {
    ports::ClientRequest request;
    request.url = session.own_path(
        fmt::format("/jobs/{}/logs?follow=1&offset={}", percent_encode(name), progress.printed));
    request.timeout_s = 0;
    request.on_bytes = [&](std::string_view bytes) {
        if (bytes.empty()) return true;
        progress.take(bytes);
        return companion.write(bytes);
    };
    LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
    if (answer.status < 200 || answer.status > 299)
        return tl::make_unexpected(Session::refusal(answer, "read the log of job '" + name + "'"));
    return {};
}

// Nobody reads any more (`… | head`), which is no error but no end of the job either; or the disk is full.
Outcome<Exit> stop_writing(const std::string& name) {
    constexpr int kBrokenPipe = 141;  // as a shell says it of a program that SIGPIPE ended
    ::pollfd out{STDOUT_FILENO, 0, 0};
    if (::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0) return static_cast<Exit>(kBrokenPipe);
    return stop(
        Exit::Failed, ErrorCode::Unavailable,
        fmt::format("cannot write the log any further; job {0} goes on: lavant job stream {0}", name));
}

// An embedded server that has left, or was killed, is started again, as by any other command.
void start_again(Session& session, Context& context) {
    ServerAddress address = session.address();
    if (address.data.empty()) return;
    auto found = find_or_start_local_server(context, {address.data});
    if (!found) return;
    address.url = found->server.address.url;
    session = Session(std::move(found->server.client), std::move(address));
}

// What the job does right now, in one line. Over a connection of its own: the other one is busy with the log.
std::string what_goes_on(Session& session, const std::string& name) {
    ports::ClientRequest request;
    request.url = session.own_path(fmt::format("/jobs/{}/explain", percent_encode(name)));
    request.timeout_s = kAskSeconds;
    const auto answer = session.send(std::move(request));
    if (!answer || answer->status != 200) return session.address().url + " does not answer; trying again";
    const auto body = wire::parse_json(answer->body);
    if (!body) return {};
    return printable((*body)["status"].text()) + ": " + printable((*body)["explanation"].text());
}

// The sentence fits the terminal; what is to be copied stays in one piece.
void print_advice(const Console& console, const std::string& advice) {
    const std::size_t end = advice.find('\n');
    console.err << render_fields({{"  remedy", advice.substr(0, end)}}, console.width);
    if (end != std::string::npos) console.err << "    " << advice.substr(end + 1) << "\n";
}

// On a terminal the last lines of the log stand right above; elsewhere they belong with the error.
void print_failure(Session& session, const Console& console, const std::string& name,
                   const LogRead& progress) {
    const auto arm = session.get(session.job_path(name));
    if (!arm) return;
    const Json job = wire::to_az_job(*arm);
    const std::string tail = last_lines(progress.tail, kTailLines);
    if (!console.out_is_beside_err && !tail.empty()) {
        console.err << "  the end of its log:\n";
        for (const std::string_view line : split(tail, '\n'))
            console.err << "    " << printable(line) << "\n";
    }
    if (const std::string advice = advise(job, progress.tail); !advice.empty()) print_advice(console, advice);
    console.err << fmt::format("  log: user_logs/std_log.txt (lavant job download {})\n", name);
    console.err.flush();
}

}  // namespace

std::string remedy_of(Session& session, const std::string& name) {
    const auto arm = session.get(session.job_path(name));
    if (!arm || (*arm)["properties"]["status"].text() != "Failed") return {};
    LogRead progress;
    ports::ClientRequest request;
    request.url = session.own_path(fmt::format("/jobs/{}/logs", percent_encode(name)));
    request.on_bytes = [&](std::string_view bytes) {
        progress.take(bytes);
        return true;
    };
    const auto answer = session.send(std::move(request));
    return answer ? advise(wire::to_az_job(*arm), progress.tail) : std::string();
}

Outcome<Exit> stream_job(Session& session, Context& context, const std::string& name) {
    const Console& console = context.console;
    LogRead progress;
    Session second(context.make_client(session.address().ca_file), session.address());
    Companion companion(console,
                        {.now = [&] { return what_goes_on(second, name); },
                         .farewell = fmt::format("job {0} goes on; come back: lavant job stream {0}\n"
                                                 "or stop it: lavant job cancel {0}",
                                                 name)});
    const std::string wait =
        session.own_path(fmt::format("/jobs/{}/wait?timeout_s={}", percent_encode(name), kWaitSeconds));
    for (int failures = 0; failures <= kReconnectsMax;) {
        const std::uint64_t before = progress.printed;
        const auto followed = follow_log(session, companion, name, progress);
        if (!followed && followed.error().exit != Exit::Unreachable)
            return tl::make_unexpected(followed.error());
        if (!console.out.good()) return stop_writing(name);
        // A log that ended for another reason than the job's end (the server restarts) is taken up again.
        const auto job = followed ? session.get(wait) : Outcome<Json>(tl::make_unexpected(followed.error()));
        if (job && (*job)["terminal"].boolean()) {
            companion.stop();
            if (!progress.tail.empty() && progress.tail.back() != '\n') console.out << "\n";
            const std::string status = (*job)["status"].string();
            print_end({name, status, (*job)["error"]}, console);
            if (status == "Failed") print_failure(session, console, name, progress);
            return exit_of_status(status);
        }
        const bool away = !job && (job.error().exit == Exit::Unreachable ||
                                   job.error().error.code == ErrorCode::Unavailable);
        if (!job && !away) return tl::make_unexpected(job.error());
        failures = progress.printed > before || job ? 0 : failures + 1;
        if (away) ::poll(nullptr, 0, kReconnectPauseMs);
        if (away && failures % kRestartEvery == 0) start_again(session, context);
    }
    return stop(Exit::Unreachable, ErrorCode::Unavailable,
                fmt::format("cannot follow job '{}': {} does not answer; the job goes on, look again with: "
                            "lavant job stream {}",
                            name, session.address().url, name));
}

}  // namespace lavant::cli
