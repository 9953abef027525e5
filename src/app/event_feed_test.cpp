#include "app/event_feed.h"

#include <gtest/gtest.h>

namespace lavant::app {
namespace {

HistoryEvent job_event(const std::string& job, const std::string& what, std::int64_t sequence = 1) {
    HistoryEvent event;
    event.sequence = sequence;
    event.workspace = "default";
    event.kind = "job";
    event.subject = job;
    event.what = what;
    return event;
}

TEST(EventFeed, TellsOnlyTheWaitersOfTheJobAndThoseOfAll) {
    EventFeed feed;
    std::vector<std::string> mine;
    int all = 0;
    ASSERT_TRUE(feed.subscribe("default", "a", [&](const HistoryEvent& e) { mine.push_back(e.what); }));
    ASSERT_TRUE(feed.subscribe("", "", [&](const HistoryEvent&) { ++all; }));
    feed.publish({job_event("a", "Queued"), job_event("b", "Queued"), job_event("a", "Running")});
    EXPECT_EQ(mine, (std::vector<std::string>{"Queued", "Running"}));
    EXPECT_EQ(all, 3);
}

TEST(EventFeed, LetsASinkUnsubscribeItself) {
    EventFeed feed;
    int calls = 0;
    EventFeed::Subscription mine = 0;
    mine = *feed.subscribe("default", "a", [&](const HistoryEvent&) {
        ++calls;
        feed.unsubscribe(mine);
    });
    feed.publish({job_event("a", "Running"), job_event("a", "Completed")});
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(feed.subscribers(), 0U);
}

TEST(EventFeed, RefusesOneSubscriberTooManyAndTakesItWhenOneLeft) {
    EventFeed feed(2);
    const auto nothing = [](const HistoryEvent&) {};
    const auto first = feed.subscribe("default", "a", nothing);
    ASSERT_TRUE(first);
    ASSERT_TRUE(feed.subscribe("default", "a", nothing));
    EXPECT_EQ(feed.subscribe("default", "a", nothing).error().code, ErrorCode::ResourceExhausted);
    feed.unsubscribe(*first);
    feed.unsubscribe(*first);
    EXPECT_TRUE(feed.subscribe("default", "", nothing));
}

TEST(EventFeed, SurvivesASinkThatOwnsTheLastReferenceToItself) {
    EventFeed feed;
    auto owned = std::make_shared<int>(7);
    std::weak_ptr<int> watch = owned;
    const auto subscription = feed.subscribe("default", "a", [owned](const HistoryEvent&) {});
    owned.reset();
    feed.unsubscribe(*subscription);
    EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace lavant::app
