#include "api/access_changes.h"

#include <unistd.h>

#include <utility>

#include "api/answers.h"
#include "api/first_run.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {

void change_access(Context& context, const SharedCall& call, std::function<Result<plane::WriteAssets>()> plan,
                   std::function<void(const plane::Answer&)> then) {
    const auto change = [&context, call, plan = std::move(plan), then = std::move(then)] {
        Result<plane::WriteAssets> event = plan();
        if (!event) {
            call->respond(error_response(event.error()));
            return context.access_turns.done();
        }
        const auto finish = [&context, call, then](const Result<plane::Answer>& answer) {
            context.access.forget_all();
            if (answer) {
                then(*answer);
            } else {
                call->respond(error_response(answer.error()));
            }
            context.access_turns.done();
        };
        if (!context.ports.post(std::move(*event), finish)) finish(tl::make_unexpected(inbox_is_full()));
    };
    if (!context.access_turns.take(change)) call->respond(error_response(inbox_is_full()));
}

void drop_dead_owner_key(Context& context) {
    if (context.settings.data_folder.empty()) return;
    const std::string file = context.settings.data_folder + "/" + kOwnerKeyFile;
    const auto plain = read_file(file, kKeyFileBytes);
    if (!plain) return;
    const auto row = context.ports.reader.find_asset_by_hash(
        "", kKeyKind, to_hex(context.ports.crypto.sha256(trim(*plain))));
    if (row && !*row) ::unlink(file.c_str());
}

}  // namespace lavant::api
