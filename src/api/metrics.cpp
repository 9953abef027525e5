#include "api/metrics.h"

#include <map>
#include <string_view>

namespace lavant::api {
namespace {

void describe(std::string& out, std::string_view name, std::string_view type, std::string_view help) {
    ((out += "# TYPE ") += name) += ' ';
    (out += type) += '\n';
    ((out += "# HELP ") += name) += ' ';
    (out += help) += '\n';
}

void gauge(std::string& out, std::string_view name, std::string_view help, const std::string& value) {
    describe(out, name, "gauge", help);
    ((out += name) += ' ') += value + '\n';
}

void counter(std::string& out, std::string_view name, std::string_view help, const std::string& value) {
    describe(out, name, "counter", help);
    ((out += name) += "_total ") += value + '\n';
}

std::string seconds(Duration length) {
    const auto micros = length.count();
    std::string fraction = std::to_string(micros % 1'000'000);
    return std::to_string(micros / 1'000'000) + "." + std::string(6 - fraction.size(), '0') + fraction;
}

std::string escape_label(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

void by_label(std::string& out, std::string_view name, std::string_view label,
              const std::map<std::string, std::size_t>& values) {
    for (const auto& [key, value] : values)
        out += std::string(name) + "{" + std::string(label) + "=\"" + escape_label(key) + "\"} " +
               std::to_string(value) + "\n";
}

}  // namespace

std::string render_metrics(const app::LoopStats& loop, const ServerFigures& server) {
    std::string out;
    counter(out, "lavant_loop_events", "Events handled by the control loop.", std::to_string(loop.events));
    counter(out, "lavant_loop_batches", "Batches committed.", std::to_string(loop.batches));
    counter(out, "lavant_loop_commits_failed", "Commits that failed.", std::to_string(loop.commits_failed));
    counter(out, "lavant_loop_commit_seconds", "Time spent in commits.", seconds(loop.commit_total));
    gauge(out, "lavant_loop_commit_last_seconds", "Duration of the last commit.", seconds(loop.commit_last));
    gauge(out, "lavant_loop_lag_seconds", "How long the last batch's oldest event had waited.",
          seconds(loop.lag_last));
    gauge(out, "lavant_loop_batch_events", "Events in the last batch.", std::to_string(loop.batch_last));
    gauge(out, "lavant_loop_inbox_events", "Events that wait.", std::to_string(loop.inbox));
    gauge(out, "lavant_jobs_live", "Jobs that have not ended.", std::to_string(loop.census.jobs_live));
    gauge(out, "lavant_outbox_effects", "Effects not yet carried out.", std::to_string(loop.census.outbox));
    describe(out, "lavant_jobs_queued", "gauge", "Queued jobs by what they wait for.");
    by_label(out, "lavant_jobs_queued", "reason", loop.census.queued_by_reason);
    describe(out, "lavant_nodes", "gauge", "Nodes by state.");
    by_label(out, "lavant_nodes", "state", loop.census.nodes_by_state);
    counter(out, "lavant_http_requests", "Requests received.", std::to_string(server.requests));
    counter(out, "lavant_http_requests_refused", "Requests without a route or a right.",
            std::to_string(server.requests_refused));
    gauge(out, "lavant_event_waiters", "Clients that wait for events.", std::to_string(server.waiters));
    if (server.disk_free_bytes)
        gauge(out, "lavant_disk_free_bytes", "Free space of the data folder.",
              std::to_string(*server.disk_free_bytes));
    out += "# EOF\n";
    return out;
}

}  // namespace lavant::api
