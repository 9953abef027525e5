#pragma once
// Responses: JSON, ARM errors, storage errors. The one table from ErrorCode to HTTP status is here.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/http.h"
#include "wire/json.h"

namespace lavant::api {

// Status of an error and the word ARM clients get for it.
int status_of(ErrorCode code);
std::string_view arm_code_of(ErrorCode code);

ports::HttpResponse json_response(int status, std::string body);
ports::HttpResponse json_response(int status, const wire::Json& body);
ports::HttpResponse text_response(int status, std::string body);
// {"error":{"code","message","details":[{"target","message"}]}}; 429 and 503 carry Retry-After.
ports::HttpResponse error_response(const Error& error);
// The disk is below its floor. 507 says so exactly; it has no Retry-After, as waiting alone does not help.
ports::HttpResponse no_room_response(const Error& error);

// <Error><Code/><Message/></Error> and x-ms-error-code.
ports::HttpResponse storage_error(int status, std::string_view code, std::string_view message);
ports::HttpResponse storage_error(const Error& error);
std::string xml_escape(std::string_view text);  // characters XML cannot hold become U+FFFD

}  // namespace lavant::api
