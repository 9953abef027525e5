#include "cli/console.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "base/text.h"

namespace lavant::cli {
namespace {

TEST(Table, FitsTheWidthByCuttingTheWidestFlexibleColumn) {
    const std::string table = render_table({{"NAME", Cut::Last}, {"STATUS"}, {"NOTE", Cut::First}},
                                           {{std::string(60, 'n'), "Completed", std::string(40, 'x')}}, 80);
    for (const std::string_view line : split(table, '\n')) EXPECT_LE(columns_of(line), 80U) << line;
    EXPECT_NE(table.find("Completed"), std::string::npos);
    EXPECT_NE(table.find("…"), std::string::npos);
}

TEST(Table, CutsNamesLast) {
    const std::string name(40, 'n');
    const std::string table =
        render_table({{"NAME", Cut::Last}, {"NOTE", Cut::First}}, {{name, std::string(60, 'x')}}, 80);
    EXPECT_NE(table.find(name + " "), std::string::npos) << table;
}

TEST(Table, LeavesWhatFitsAlone) {
    EXPECT_EQ(render_table({{"A"}, {"B"}}, {{"1", "22"}, {"333", ""}}, 80), "A    B\n1    22\n333\n");
}

TEST(Table, CountsWideCharactersAsTwoColumns) {
    EXPECT_EQ(columns_of("日本"), 4U);
    EXPECT_EQ(columns_of("ä"), 1U);
    EXPECT_EQ(cut_to("日本語", 5), "日本…");
}

TEST(Fields, WrapLongValuesUnderTheirColumn) {
    const std::string text =
        render_fields({{"command", "python train.py --with a --long list --of arguments"}}, 40);
    for (const std::string_view line : split(text, '\n')) EXPECT_LE(columns_of(line), 40U) << line;
    EXPECT_EQ(text.substr(0, 9), "command  ");
    EXPECT_EQ(split(text, '\n')[1].substr(0, 9), "         ");
}

TEST(Printable, TakesTheTeethOutOfControlCharacters) { EXPECT_EQ(printable("a\x1b[31mb\nc"), "a?[31mb c"); }

TEST(Console, PaintsOnlyWhereColoursAreWanted) {
    std::ostringstream out;
    EXPECT_EQ((Console{out, out, 80, false}.painted("x", Colour::Red)), "x");
    EXPECT_EQ((Console{out, out, 80, true}.painted("x", Colour::Red)), "\x1b[31mx\x1b[0m");
}

TEST(Report, PrintsEveryProblemWithItsPlace) {
    std::ostringstream out;
    std::ostringstream err;
    const Failure failure(Error{
        ErrorCode::InvalidArgument, "cannot use 'job.yml'", {{"limits.timeout", "must be positive", 3, 5}}});
    EXPECT_EQ(report(failure, Console{out, err}), 2);
    EXPECT_EQ(err.str(),
              "lavant: cannot use 'job.yml'\n  line 3, column 5: limits.timeout: must be positive\n");
    EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace lavant::cli
