#include "wire/python_json.h"

#include <gtest/gtest.h>

namespace lavant::wire {
namespace {

TEST(PythonJson, WritesWhatPythonWrites) {
    const Json value =
        *parse_json(R"({"b":[1,2.5,1e-5,true,null],"a":{"ü":"é\n\"😀","x":"\u007f"},"c":1.0})");
    EXPECT_EQ(
        python_json(value),
        R"({"a": {"x": "\u007f", "\u00fc": "\u00e9\n\"\ud83d\ude00"}, "b": [1, 2.5, 1e-05, true, null], "c": 1.0})");
}

TEST(PythonJson, AnonymousComponentsDifferByWhatTheyDo) {
    const auto text = [](const char* spec) { return component_fingerprint_text(*parse_json(spec)); };
    EXPECT_EQ(text(R"({"name":"a","version":"1","_source":"YAML.JOB","command":"x"})"),
              R"({"command": "x"})");
    EXPECT_NE(text(R"({"command":"x"})"), text(R"({"command":"y"})"));
}

}  // namespace
}  // namespace lavant::wire
