#include <array>
#include <string>

#include "cli/job_create.h"

namespace lavant::cli {
namespace {

constexpr std::array kAdjectives = {
    "amber", "ample",  "bold",   "brave",  "bright",  "brisk", "calm",   "clear",  "clever", "coral",
    "crisp", "dapper", "deep",   "eager",  "early",   "fair",  "fancy",  "fleet",  "fond",   "frank",
    "fresh", "gentle", "glad",   "golden", "grand",   "green", "happy",  "hardy",  "honest", "ivory",
    "jolly", "keen",   "kind",   "lively", "loyal",   "lucid", "mellow", "merry",  "mild",   "modest",
    "neat",  "nimble", "noble",  "olive",  "patient", "plain", "proud",  "quick",  "quiet",  "rapid",
    "ready", "rosy",   "serene", "sharp",  "silver",  "sober", "solid",  "steady", "sunny",  "swift",
    "tidy",  "vivid",  "warm",   "wise"};

constexpr std::array kNouns = {
    "acorn",  "anchor", "arch",   "aspen",  "badger", "basin",  "bay",     "beacon",  "birch",  "brook",
    "cedar",  "cliff",  "cloud",  "clover", "coast",  "comet",  "cove",    "crane",   "creek",  "delta",
    "dune",   "falcon", "fern",   "field",  "fjord",  "ford",   "forest",  "garden",  "glade",  "grove",
    "harbor", "hazel",  "heron",  "hill",   "island", "lagoon", "lake",    "lantern", "larch",  "lark",
    "maple",  "marsh",  "meadow", "mill",   "moon",   "moss",   "orchard", "otter",   "pebble", "pine",
    "plain",  "pond",   "reed",   "ridge",  "river",  "robin",  "shore",   "spring",  "star",   "stone",
    "tide",   "valley", "willow", "wren"};

constexpr std::string_view kLetters = "0123456789bcdfghjklmnpqrstvwxyz";  // No vowels: no words by chance.
constexpr std::size_t kTailChars = 10;

}  // namespace

std::string make_job_name(ports::Crypto& crypto) {
    const std::string random = crypto.random_bytes(2 + 2 * kTailChars);
    const auto byte = [&random](std::size_t i) { return static_cast<unsigned char>(random[i]); };
    std::string name = kAdjectives[byte(0) % kAdjectives.size()];
    name += '_';
    name += kNouns[byte(1) % kNouns.size()];
    name += '_';
    for (std::size_t i = 0; i < kTailChars; ++i) {
        const unsigned value = byte(2 + 2 * i) * 256U + byte(3 + 2 * i);
        name += kLetters[value % kLetters.size()];
    }
    return name;
}

}  // namespace lavant::cli
