#include "base/time.h"

#include <gtest/gtest.h>

namespace lavant {
namespace {

using namespace std::chrono_literals;

TEST(Time, PrintsAndReadsRfc3339) {
    const Instant at = from_micros(1'767'323'045'678'901);
    EXPECT_EQ(to_rfc3339(at), "2026-01-02T03:04:05.678901Z");
    EXPECT_EQ(to_rfc3339(from_micros(0)), "1970-01-01T00:00:00.000000Z");
    EXPECT_EQ(to_rfc3339(from_micros(-1)), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(to_rfc3339(from_micros(253'402'300'799'999'999)), "9999-12-31T23:59:59.999999Z");
    EXPECT_EQ(to_rfc3339(from_micros(253'402'300'800'000'000)), "10000-01-01T00:00:00.000000Z");
    EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.678901Z"), at);
    EXPECT_EQ(parse_rfc3339("2026-01-02T04:04:05.678901+01:00"), at);
    EXPECT_EQ(to_http_date(at), "Fri, 02 Jan 2026 03:04:05 GMT");
}

TEST(Time, ReadsTheDatesOfHttp) {
    const auto at = parse_http_date("Fri, 02 Jan 2026 03:04:05 GMT");
    ASSERT_TRUE(at);
    EXPECT_EQ(to_rfc3339(*at), "2026-01-02T03:04:05.000000Z");
    EXPECT_EQ(to_http_date(*at), "Fri, 02 Jan 2026 03:04:05 GMT");
    for (const char* bad : {"", "nonsense", "Fri, 32 Jan 2026 03:04:05 GMT", "Fri, 02 anJ 2026 03:04:05 GMT",
                            "Fri, 02 Jan 2026 03:04:05 CET", "2026-01-02T03:04:05Z"})
        EXPECT_FALSE(parse_http_date(bad)) << bad;
}

TEST(Time, RefusesWhatIsNoTime) {
    for (const char* text :
         {"", "2026", "2026-13-01T00:00:00Z", "2026-01-02T03:04:05", "2026-01-02T03:04:05Zx"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Time, PrintsAndReadsIsoDurations) {
    for (const Duration length :
         {Duration{0s}, Duration{1s}, Duration{90min}, Duration{3600s}, Duration{1500ms}})
        EXPECT_EQ(parse_iso_duration(to_iso_duration(length)), length);
    EXPECT_EQ(to_iso_duration(3600s), "PT1H");
    EXPECT_EQ(parse_iso_duration("P1DT1H"), Duration{25h});
    for (const char* text : {"", "P", "PT", "1H", "PT1X", "PT-1S", "P1H"})
        EXPECT_FALSE(parse_iso_duration(text)) << text;
}

}  // namespace
}  // namespace lavant
