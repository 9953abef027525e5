#pragma once
// Data, models, environments, components, datastores and schedules as az and the SDK show them: the words of
// their files, with what the server added. From ARM resources.

#include "wire/json.h"

namespace lavant::wire {

// A version, or a container: that one has latest_version instead of a version.
Json to_az_data(const Json& arm);
Json to_az_model(const Json& arm);
Json to_az_environment(const Json& arm);
Json to_az_component(const Json& arm);

Json to_az_datastore(const Json& arm);
Json to_az_schedule(const Json& arm);

}  // namespace lavant::wire
