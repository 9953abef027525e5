#pragma once
// Checked files of data, models, environments, datastores and schedules to the ARM request bodies that make
// them: those that Azure's client sends.

#include <string>
#include <string_view>

#include "core/spec/asset.h"
#include "core/spec/datastore.h"
#include "core/spec/schedule.h"
#include "wire/json.h"

namespace lavant::wire {

// `uri` is where a local path was uploaded to; "" for any other, which travels as it was written.
Json to_arm_data(const spec::AssetSpec& spec, const std::string& uri);
Json to_arm_model(const spec::AssetSpec& spec, const std::string& uri);
// `context_uri` likewise of a build context.
Json to_arm_environment(const spec::EnvironmentFile& file, const std::string& context_uri);

Json to_arm_datastore(const spec::DatastoreSpec& spec);

// `job` is the definition of the job that is made each time, null for other actions.
Json to_arm_schedule(const spec::ScheduleSpec& spec, Json job);

std::string camel_case(std::string_view words);  // "time_zone" is "timeZone"
// For what came from a file in the words of files: maps with their keys in camel case, all the way down.
Json with_camel_keys(const Json& value);

}  // namespace lavant::wire
