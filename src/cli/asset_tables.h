#pragma once
// Assets, datastores and schedules as text for people. All take what az shows.

#include <string>
#include <utility>
#include <vector>

#include "cli/asset_kind.h"
#include "cli/console.h"
#include "wire/json.h"

namespace lavant::cli {

std::string render_asset(AssetKind kind, const wire::Json& asset, const Console& console);
std::string render_asset_line(AssetKind kind, const wire::Json& asset);  // "titanic:1  uri_file  azureml://…"
std::string table_of_containers(AssetKind kind, const wire::Json& assets, int width);
std::string table_of_versions(AssetKind kind, const wire::Json& assets, int width);

// --- for those that have tables of their own ---
using FieldRows = std::vector<std::pair<std::string, std::string>>;
void add_field(FieldRows& rows, const char* key, const wire::Json& value);  // nothing if there is none
void add_pairs(FieldRows& rows, const char* key, const wire::Json& pairs);  // "tag   a = b" each
void add_creation(FieldRows& rows, const wire::Json& shown);
std::string created_of(const wire::Json& shown);  // "2026-01-02 03:04:05"

}  // namespace lavant::cli
