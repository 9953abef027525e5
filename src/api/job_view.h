#pragma once
// How a job reads in ARM. The stored properties are kept in a form that needs no parsing to be shown:
// metadata that may change is taken out, `services` comes last, so a view is a few pieces of text put
// together.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/job.h"
#include "core/model/workspace.h"
#include "wire/json.h"

namespace lavant::api {

// The members of a JSON object given as compact, valid JSON text; values stay as they are written. Empty for
// anything that is not an object.
std::vector<std::pair<std::string_view, std::string_view>> slice_object(std::string_view text);

// From the `properties` a client sent (valid JSON) to what JobBody.properties holds.
std::string to_stored_properties(std::string_view sent);

// The user's own properties among the stored ones, and the stored ones with some of them added or changed.
wire::Json own_properties(std::string_view stored);
std::string with_own_properties(std::string_view stored, const wire::Json& more);

struct JobFrame {
    std::string origin;  // "https://host:port"
    WorkspaceName workspace;
    JobStatus shown = JobStatus::Queued;  // mostly the job's own status
};
// The whole ARM resource.
std::string render_job(const Job& job, const JobFrame& frame);

// "tags" and the like: {"a":"b"}.
std::string to_json_object(const std::map<std::string, std::string>& values);

}  // namespace lavant::api
