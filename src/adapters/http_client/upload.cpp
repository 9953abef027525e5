#include "adapters/http_client/upload.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace lavant::adapters::http_client {
namespace {

constexpr std::uint64_t kPieceBytes = 256U << 10;
constexpr std::size_t kWithHeadBytes = 8U << 10;  // a body that travels in one record with its head

}  // namespace

Result<Upload> Upload::of(const ports::ClientRequest& request, std::string head) {
    Upload upload;
    if (!request.body_file.empty()) {
        LAVANT_TRY(upload.file_, open_file(request.body_file, O_RDONLY | O_CLOEXEC));
        struct stat found {};
        if (::fstat(upload.file_.get(), &found) != 0 || !S_ISREG(found.st_mode))
            return fail(ErrorCode::InvalidArgument,
                        "cannot send '" + request.body_file + "': it is not a file");
        upload.body_bytes_ = static_cast<std::uint64_t>(found.st_size);
        upload.path_ = request.body_file;
    } else {
        upload.body_ = request.body;
        upload.body_bytes_ = request.body.size();
    }
    const std::string& method = request.method;
    if (upload.body_bytes_ > 0 || upload.file_ || method == "POST" || method == "PUT" || method == "PATCH")
        head += "Content-Length: " + std::to_string(upload.body_bytes_) + "\r\n";
    head += "\r\n";
    if (upload.body_.size() <= kWithHeadBytes) {
        head += upload.body_;
        upload.body_ = {};
        if (!upload.file_) upload.body_bytes_ = 0;
    }
    upload.head_ = std::move(head);
    return upload;
}

Result<std::string_view> Upload::next() {
    if (at_ < head_.size()) return std::string_view(head_).substr(at_);
    const std::uint64_t offset = at_ - head_.size();
    if (!file_) return body_.substr(offset);
    if (offset == body_bytes_) return std::string_view();
    if (offset >= piece_at_ && offset < piece_at_ + piece_.size())
        return std::string_view(piece_).substr(offset - piece_at_);
    piece_.resize(std::min(kPieceBytes, body_bytes_ - offset));
    ssize_t got = 0;
    do {
        got = ::pread(file_.get(), piece_.data(), piece_.size(), static_cast<off_t>(offset));
    } while (got < 0 && errno == EINTR);
    if (got < 0) return fail(system_error("read '" + path_ + "'", errno));
    if (got == 0)
        return fail(ErrorCode::Conflict,
                    "'" + path_ + "' became shorter while it was sent; send it again when it is complete");
    piece_.resize(static_cast<std::size_t>(got));
    piece_at_ = offset;
    return std::string_view(piece_);
}

}  // namespace lavant::adapters::http_client
