#pragma once
// Which datastore of which workspace a container of our storage belongs to, so that whoever names the
// container is asked for the right to the datastore.

#include <optional>
#include <string>

#include "api/context.h"
#include "base/result.h"

namespace lavant::api {

// nullopt: nobody's. Code and uploads of a workspace count as its workspaceblobstore.
[[nodiscard]] Result<std::optional<ContainerPlace>> find_container_place(Context& context,
                                                                         const std::string& container);

// The datastore of the workspace in which its code "container/path" lies; "" for what startPendingUpload
// gave. InvalidArgument: it is no place of this workspace.
[[nodiscard]] Result<std::string> find_code_datastore(Context& context, const std::string& workspace,
                                                      const std::string& place);

}  // namespace lavant::api
