"""Devices by claim: what drivers offer and what pods ask for. Builds objects and touches no server."""

GROUP = "resource.k8s.io/v1"
SLICES = f"{GROUP}/resourceslices"
CLASSES = f"{GROUP}/deviceclasses"
CLAIMS = f"{GROUP}/resourceclaims"
TEMPLATES = f"{GROUP}/resourceclaimtemplates"
DRIVER = "gpu.example.com"


def gpu_slice(node, gpus=8, model="a"):
    """The GPUs of one node, gpu-0 and on."""
    return {
        "apiVersion": GROUP,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-gpus"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {
                    "name": f"gpu-{index}",
                    "attributes": {"model": {"string": model}, "index": {"int": index}},
                    "capacity": {"memory": {"value": "80Gi"}},
                }
                for index in range(gpus)
            ],
        },
    }


def device_class(name="gpu", extended=None, config=None):
    spec = {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}
    if extended:
        spec["extendedResourceName"] = extended
    if config:
        spec["config"] = [{"opaque": {"driver": DRIVER, "parameters": config}}]
    return {"apiVersion": GROUP, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def claim_spec(count, device_class="gpu", selectors=()):
    exactly = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    return {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}


def claim(name, count, **options):
    return {
        "apiVersion": GROUP,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": claim_spec(count, **options),
    }


def template(name, count, **options):
    return {
        "apiVersion": GROUP,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"spec": claim_spec(count, **options)},
    }


def with_template(name):
    """Spec of a pod that gets a claim of its own."""
    return {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": name}]}


def with_claim(name):
    return {"resourceClaims": [{"name": "gpus", "resourceClaimName": name}]}


def devices_of(claim):
    """(pool, device) of a claim's allocation."""
    allocation = claim.get("status", {}).get("allocation") or {}
    return sorted((one["pool"], one["device"]) for one in allocation.get("devices", {}).get("results", []))
