// CPU per job of the store: one job added, changed twice, one task with it, three events; in batches of 1,
// 10, 100.

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "adapters/sql/sqlite_store.h"
#include "base/check.h"
#include "base/files.h"

namespace lavant {
namespace {

double cpu_micros() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto micros = [](const timeval& at) {
        return 1e6 * static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_usec);
    };
    return micros(usage.ru_utime) + micros(usage.ru_stime);
}

Job make_job(std::int64_t id) {
    Job job;
    job.head.id = JobId{id};
    job.head.version = 1;
    job.head.workspace = "default";
    job.head.name = "clever_river_" + std::to_string(id * 2'654'435'761 % 4'294'967'296);
    job.head.pool = PoolId{1};
    job.head.submitted_at = from_micros(1'700'000'000'000'000 + id);
    job.body.experiment = "Default";
    job.body.created_by = "somebody";
    job.body.properties = std::string(900, 'p');
    job.body.launch = std::string(500, 'l');
    job.meta.display_name = job.head.name;
    return job;
}

struct Counters {
    std::int64_t job = 0;
    std::int64_t event = 0;
};

HistoryEvent make_event(Counters& counters, const JobHead& head) {
    HistoryEvent event;
    event.sequence = ++counters.event;
    event.at = head.submitted_at;
    event.workspace = head.workspace;
    event.kind = "job";
    event.subject = head.name;
    event.job = head.id;
    event.what = name_of(head.status);
    event.detail = "node-1";
    return event;
}

// Three commits, as the loop makes them: submitted; placed and running; ended.
void run_batch(ports::Store& store, Counters& counters, int size) {
    WriteBatch steps[3];
    for (int i = 0; i < size; ++i) {
        Job job = make_job(++counters.job);
        steps[0].jobs_added.push_back(job);
        steps[0].events.push_back(make_event(counters, job.head));
        Task task;
        task.ref = {job.head.id, 1, 0};
        for (int step = 1; step < 3; ++step) {
            ++job.head.version;
            job.head.status = step == 1 ? JobStatus::Running : JobStatus::Completed;
            job.head.attempt = 1;
            task.version = step;
            task.phase = step == 1 ? TaskPhase::Running : TaskPhase::Ended;
            if (step == 2) task.end.usage = {1'000, 2'000'000, 3'000};
            steps[step].jobs_changed.push_back(job.head);
            steps[step].tasks.push_back(task);
            steps[step].events.push_back(make_event(counters, job.head));
        }
    }
    for (const WriteBatch& batch : steps) {
        const auto committed = store.commit(batch);
        CHECK(committed.has_value(), "the benchmark's batches fit");
    }
}

void measure(const std::string& folder, int size, int jobs, int jobs_before) {
    CHECK(remove_tree(folder) && make_directories(folder), "the folder can be made");
    auto store = adapters::SqliteStore::open(folder + "/lavant.db");
    CHECK(store.has_value(), "the database opens");
    Counters counters;
    while (counters.job < jobs_before) run_batch(**store, counters, 1'000);
    const double cpu = cpu_micros();
    const auto wall = std::chrono::steady_clock::now();
    for (int done = 0; done < jobs; done += size) run_batch(**store, counters, size);
    const double wall_micros =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - wall).count();
    std::printf("%6d jobs before, batches of %3d: %7.1f us CPU per job, %8.1f us wall\n", jobs_before, size,
                (cpu_micros() - cpu) / jobs, wall_micros / jobs);
    CHECK(remove_tree(folder), "the folder can be removed");
}

}  // namespace
}  // namespace lavant

int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : "/tmp/lavant-bench-sql";
    const int scale = argc > 2 ? std::atoi(argv[2]) : 1;
    const int only = argc > 3 ? std::atoi(argv[3]) : 0;  // a batch size
    for (const int size : {1, 10, 100})
        if (only == 0 || only == size) lavant::measure(folder, size, (300 + 100 * size) * scale, 0);
    if (only == 0) lavant::measure(folder, 10, 3'000 * scale, 100'000);
    return 0;
}
