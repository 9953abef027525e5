#include "core/quota/quota_answer.h"

#include <algorithm>
#include <cstdlib>

#include "core/model/size.h"

namespace lavant {
namespace {

constexpr std::size_t kSizesNamed = 3;

std::string cores(std::int64_t count) { return std::to_string(count) + (count == 1 ? " vCPU" : " vCPUs"); }

std::string how_to_ask(const QuotaKey& key, std::int64_t needed) {
    return "`lavant quota request --family " + (key.family.empty() ? "total" : key.family) + " --cores " +
           std::to_string(needed) + (key.tier == Tier::LowPriority ? " --tier low_priority" : "") + "`";
}

bool fits(const QuotaBook& quotas, const Size& size, const PoolTerms& terms, int nodes) {
    const std::int64_t needed = size.resources.cpu_millis / 1000 * nodes;
    return needed <= quotas.limit({terms.location, size.family, terms.tier}) &&
           needed <= quotas.limit({terms.location, "", terms.tier});
}

// The most alike first: as many GPUs, then nearly as many vCPUs.
std::string sizes_that_fit(const QuotaBook& quotas, const QuotaAsk& ask) {
    const PoolTerms& terms = ask.pool.terms;
    const auto asked = find_size(ask.pool.size);
    const int gpus = asked ? asked->resources.gpus : terms.node_limit.gpus;
    std::vector<const Size*> found;
    for (const Size& size : size_catalogue())
        if (size.name != ask.pool.size && size.retired_on.empty() && fits(quotas, size, terms, ask.nodes))
            found.push_back(&size);
    std::ranges::stable_sort(found, {}, [&](const Size* size) {
        return std::pair(std::abs(size->resources.gpus - gpus),
                         std::abs(size->resources.cpu_millis / 1000 - terms.vcpus));
    });
    std::string names;
    for (std::size_t i = 0; i < std::min(found.size(), kSizesNamed); ++i)
        names +=
            (i == 0 ? "" : ", ") + found[i]->name + " (" + cores(found[i]->resources.cpu_millis / 1000) +
            (found[i]->resources.gpus > 0 ? ", " + std::to_string(found[i]->resources.gpus) + " GPUs" : "") +
            ")";
    return names;
}

std::string yaml_that_works(const QuotaAsk& ask, std::int64_t count) {
    const std::string size = ask.pool.size + ", " + ask.word + ": " + std::to_string(count) + "}";
    if (ask.word == "instance_count") return " This would run: resources: {instance_type: " + size;
    return " This would be made: {size: " + size;
}

}  // namespace

std::string in_words(const QuotaKey& key) {
    return (key.family.empty() ? "all families" : key.family) + " in " + key.location + ", " +
           std::string(key.tier == Tier::Dedicated ? "dedicated" : "low priority");
}

Result<const QuotaKey*> check_limits(const QuotaBook& quotas, const QuotaUsage& used, const QuotaAsk& ask,
                                     const std::vector<QuotaKey>& keys) {
    const PoolTerms& terms = ask.pool.terms;
    const std::int64_t needed = static_cast<std::int64_t>(ask.nodes) * terms.vcpus;
    const QuotaKey* short_now = nullptr;
    for (const QuotaKey& key : keys) {
        const std::int64_t limit = quotas.limit(key);
        const auto found = used.find(key);
        if (limit - (found == used.end() ? 0 : found->second) < needed && short_now == nullptr)
            short_now = &key;
        // What is in use comes free for a job that waits; what a compute holds does not for another one.
        const std::int64_t used_now = found == used.end() ? 0 : found->second;
        const std::int64_t within = ask.word == "max_instances" ? limit - used_now : limit;
        if (needed <= limit || (within < terms.vcpus && limit >= terms.vcpus)) continue;
        const std::string have = "the quota of " + in_words(key) + ", is " + cores(limit);
        std::string message;
        if (limit < terms.vcpus) {
            message = "there is no quota for " + ask.pool.size + ": " + have + ", and one node needs " +
                      std::to_string(terms.vcpus);
            const std::string sizes = sizes_that_fit(quotas, ask);
            if (!sizes.empty()) message += ". Sizes that fit: " + sizes;
            message += ". Or ask for quota: " + how_to_ask(key, needed);
        } else {
            const std::int64_t most = within / terms.vcpus;
            message = have + ", and " + std::to_string(ask.nodes) + " nodes of " + ask.pool.size + " need " +
                      std::to_string(needed) + ": at most " + std::to_string(most) +
                      (most == 1 ? " fits" : " fit") + ". Lower " + ask.word + " to " + std::to_string(most) +
                      ", or ask for quota: " + how_to_ask(key, needed) + "." + yaml_that_works(ask, most);
        }
        return fail(Error{ErrorCode::InvalidArgument,
                          "there is not enough quota",
                          {{ask.field, std::move(message), 0, 0}}});
    }
    return short_now;
}

}  // namespace lavant
