#pragma once
// Which settings an automl job has, by its family. Internal to core/spec.

#include <string>
#include <vector>

#include "core/spec/automl.h"

namespace lavant::spec {

struct Shape {
    enum class Kind { Text, Whole, Number, Flag, Texts, Word, Words, WholeOrAuto, WholesOrAuto, Texted, Any };
    std::string key;
    Kind kind = Kind::Text;
    std::vector<std::string> words = {};  // of Word and Words: what may stand there
};
using Shapes = std::vector<Shape>;

const std::vector<std::string>& automl_tasks();
const std::vector<std::string>& primary_metrics(const std::string& task);
const Shapes& limit_shapes(AutoMlFamily family);
const Shapes& featurization_shapes(AutoMlFamily family);
const Shapes& forecasting_shapes();
const Shapes& training_shapes(const std::string& task);
const Shapes& training_parameter_shapes(const std::string& task);

}  // namespace lavant::spec
