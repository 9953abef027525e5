#pragma once
// ARM routes for jobs, and what other route files need to know about showing them.

#include "api/context.h"
#include "api/job_view.h"

namespace lavant::api {

// The property of a job that names the schedule that made it.
inline constexpr const char* kScheduleProperty = "azureml.scheduleId";
inline constexpr const char* kWorkspacePattern =
    "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.MachineLearningServices/"
    "workspaces/"
    "{workspace}";

void add_job_routes(Router& router, Context& context);
// Submits the job in the body, or edits the one that has the name.
void put_job(Context& context, const SharedCall& call);

// The job, or NotFound with its name.
[[nodiscard]] Result<Job> load_job(Context& context, const std::string& workspace, const std::string& name);
// The status this client should see: see ApiSettings::sdk_settle.
JobStatus shown_status(const Context& context, const Call& call, const JobHead& head);
bool is_azure_sdk(const ports::HttpRequest& request);
std::string view_job(const Context& context, const Call& call, const Job& job);

}  // namespace lavant::api
