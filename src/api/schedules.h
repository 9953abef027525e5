#pragma once
// Schedules as they are stored and shown: rows of the kind "schedules" without a version, set aside
// ("archived") while they are disabled.

#include <string>

#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"
#include "wire/json.h"

namespace lavant::api {

inline constexpr const char* kScheduleKind = "schedules";

struct ScheduleBody {
    wire::Json properties;  // without isEnabled
    bool enabled = true;
};
// From the body of a request; every problem at once, with its place.
[[nodiscard]] Result<ScheduleBody> read_schedule(std::string_view body);
[[nodiscard]] Result<wire::Json> schedule_view(const WorkspaceName& workspace, const Asset& asset);

// What a schedule's action submits at `at`: the body of a PUT of a job. `definition` is what the action has,
// or the source job it names.
wire::Json job_of_schedule(wire::Json definition, const std::string& schedule, Instant at);

}  // namespace lavant::api
