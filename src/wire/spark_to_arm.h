#pragma once
// The parts of a Spark job on the wire, for jobs and steps.

#include "core/spec/component.h"
#include "wire/json.h"

namespace lavant::wire {

Json spark_entry(const spec::SparkSpec& spark);  // {"sparkJobEntryType": …, "file": …}
// As written, and with the number of executors that dynamic allocation begins with.
Json spark_conf(const spec::SparkSpec& spark);

}  // namespace lavant::wire
