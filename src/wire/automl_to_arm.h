#pragma once
// An automl job on the wire: as a job in ARM's spelling, as a step in the file's own.

#include <string>
#include <string_view>

#include "core/spec/automl.h"
#include "wire/json.h"
#include "wire/resolver.h"

namespace lavant::wire {

[[nodiscard]] Result<Json> automl_step(const spec::AutoMlJobSpec& job, Resolver& resolver);

// "light_gbm" is "LightGBM", "text_ner" is "TextNER", "r2_score" is "R2Score".
std::string pascal_words(std::string_view snake);
std::string camel_words(std::string_view snake);  // "time_column_name" is "timeColumnName"

}  // namespace lavant::wire
