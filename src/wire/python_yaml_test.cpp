#include "wire/python_yaml.h"

#include <gtest/gtest.h>

#include "wire/yaml.h"

namespace lavant::wire {
namespace {

std::string again(std::string_view yaml) {
    const auto document = parse_yaml(yaml, "test");
    EXPECT_TRUE(document) << document.error().message;
    return document ? python_yaml(*document) : "";
}

// Each right side is what yaml.dump(yaml.safe_load(left side), sort_keys=True) of PyYAML 6 gives.
TEST(PythonYaml, SortsKeysAndKeepsListsBelowTheirKeys) {
    EXPECT_EQ(again("name: x\n"
                    "dependencies: [python=3.8, {pip: [numpy==1.0, 'a: b']}]\n"
                    "channels:\n  - conda-forge\n"),
              "channels:\n- conda-forge\ndependencies:\n- python=3.8\n- pip:\n  - numpy==1.0\n  - 'a: "
              "b'\nname: x\n");
    EXPECT_EQ(again("b: {z: 1, a: {}}\na: [[1, 2], [], {q: [3]}]\n"),
              "a:\n- - 1\n  - 2\n- []\n- q:\n  - 3\nb:\n  a: {}\n  z: 1\n");
    EXPECT_EQ(again("a:\n- - x: 1\n    y: 2\n  - z\n"), "a:\n- - x: 1\n    y: 2\n  - z\n");
}

TEST(PythonYaml, QuotesWhatWouldBeReadAsSomethingElse) {
    EXPECT_EQ(again("a: '1'\nb: 'yes'\nc: ''\nd: 1.0\ne: ~\nf: true\ng: '# x'\nh: 'a #b'\ni: \"it's\"\n"),
              "a: '1'\nb: 'yes'\nc: ''\nd: 1.0\ne: null\nf: true\ng: '# x'\nh: 'a #b'\ni: it's\n");
    EXPECT_EQ(again("a: 'a: b''s'\nb: '-x'\nc: '- x'\nd: '@x'\ne: ' x'\nf: 'x:'\n"),
              "a: 'a: b''s'\nb: -x\nc: '- x'\nd: '@x'\ne: ' x'\nf: 'x:'\n");
    EXPECT_EQ(again("a: \"t\\tb\"\nb: \"\\u00e9\\u20ac\"\nc: \"x\\ny\"\n"),
              "a: \"t\\tb\"\nb: \"\\xE9\\u20AC\"\nc: 'x\n\n  y'\n");
}

TEST(PythonYaml, FoldsLongLinesAtABlank) {
    const std::string word(60, 'x');
    EXPECT_EQ(again("a:\n- " + word + " " + word + " end\n"), "a:\n- " + word + " " + word + "\n  end\n");
    EXPECT_EQ(again("k: '" + word + ": " + word + " end'\n"), "k: '" + word + ": " + word + "\n  end'\n");
}

}  // namespace
}  // namespace lavant::wire
