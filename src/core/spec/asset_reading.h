#pragma once
// What the readers of files of assets, datastores and schedules share. Internal to core/spec.

#include <string>
#include <vector>

#include "core/spec/asset.h"
#include "core/spec/fields.h"
#include "core/spec/reading.h"

namespace lavant::spec {

std::string read_asset_name(Fields& fields);
// A version that still has an example's <PLACEHOLDER> is a warning.
std::string read_asset_version(Fields& fields, std::vector<std::string>& warnings);
std::string read_description(Fields& fields);
std::string read_datastore_name(Fields& fields);  // `datastore`, without its `azureml:`
std::map<std::string, std::string> read_pairs(Fields& fields, std::string_view key);

}  // namespace lavant::spec
