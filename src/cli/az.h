#pragma once
// What scripts written for az do around `az ml`: log in, choose a subscription, set defaults.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

// `az login`, `az account show | list`: who one is, and the one subscription there is.
[[nodiscard]] Outcome<Exit> show_account(Session& session, const Console& console, bool as_list,
                                         const Output& output);

// `az account get-access-token`
[[nodiscard]] Outcome<Exit> print_access_token(Session& session, const Console& console,
                                               const std::string& resource, const Output& output);

// `az account set --subscription S`, `az configure --defaults group=g workspace=w`: kept in the user's file.
[[nodiscard]] Outcome<Exit> set_az_defaults(Context& context, const std::vector<std::string>& pairs);
[[nodiscard]] Outcome<Exit> list_az_defaults(Context& context, const Output& output);

// `az extension add | update | remove | list | show`: Azure ML is built in.
[[nodiscard]] Outcome<Exit> answer_extension(Context& context, const std::string& name, const Output& output,
                                             bool print_it);

}  // namespace lavant::cli
