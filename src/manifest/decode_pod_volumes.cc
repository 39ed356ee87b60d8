// The volumes of a pod that restrict where it may run.
#include <fmt/format.h>

#include "manifest/pod_draft.h"

namespace reprieve {
namespace {

// The disk-like sources: one name that identifies the disk, and whether it is mounted read-only.
void decode_disk(Cursor& at, VolumeKind kind, KeyId name, VolumeDraft& out) {
    if (at.is_null()) return;
    out.use.kind = kind;
    for (Fields f(at); f.next();) {
        if (f.id() == name) {
            f->read(out.use.id);
        } else if (f.id() == "readOnly"_key) {
            f->read(out.use.read_only);
        }
    }
    if (!out.use.id) at.wrong("names no volume");
}

void decode_rbd(Cursor& at, VolumeDraft& out) {
    if (at.is_null()) return;
    out.use.kind = VolumeKind::kRbd;
    std::string_view pool = "rbd";
    std::string_view image;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "pool"_key:
                f->read(pool);
                break;
            case "image"_key:
                f->read(image);
                break;
            case "readOnly"_key:
                f->read(out.use.read_only);
                break;
            default:
                break;
        }
    }
    if (image.empty()) return at.wrong("image", "is missing");
    out.use.id = at.words().string(fmt::format("{}/{}", pool, image));
}

// False: a volume that every node can offer.
bool decode_volume(Cursor& at, VolumeDraft& out) {
    std::string_view name;
    bool ephemeral = false;
    for (Fields f(at); f.next();) {
        switch (f.id()) {
            case "name"_key:
                f->read(name);
                break;
            case "persistentVolumeClaim"_key:
                decode_disk(*f, VolumeKind::kClaim, "claimName"_key, out);
                break;
            case "gcePersistentDisk"_key:
                decode_disk(*f, VolumeKind::kGcePersistentDisk, "pdName"_key, out);
                break;
            case "awsElasticBlockStore"_key:
                decode_disk(*f, VolumeKind::kAwsElasticBlockStore, "volumeID"_key, out);
                break;
            case "iscsi"_key:
                decode_disk(*f, VolumeKind::kIscsi, "iqn"_key, out);
                break;
            case "csi"_key:
                decode_disk(*f, VolumeKind::kCsiInline, "driver"_key, out);
                break;
            case "rbd"_key:
                decode_rbd(*f, out);
                break;
            case "ephemeral"_key:
                ephemeral = !f->is_null();
                break;
            default:
                break;
        }
    }
    if (!ephemeral) return out.use.id.valid();
    if (name.empty()) at.wrong("name", "is missing");
    out.use.kind = VolumeKind::kClaim;
    out.ephemeral_name = name;
    return true;
}

}  // namespace

void decode_volumes(Cursor& at, PodDraft& draft) {
    for (Items item(at); item.next();) {
        VolumeDraft volume;
        if (decode_volume(*item, volume)) draft.volumes.push_back(volume);
    }
}

}  // namespace reprieve
