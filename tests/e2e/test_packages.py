"""What `make package` makes, used as people use it: the Debian package as a service of a machine with a real systemd, the
image as non-root on a read-only root, the tarball without the libraries of this machine; all against a real API server."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from harness import components
from harness.machine import Machine
from harness.ports import free_port
from harness.programs import ROOT
from harness.testcase import ClusterTestCase

PACKAGES = ROOT / "build" / "package"
# What a container runtime does last: the image's root, its user, its program.
ENTER = """
import os, sys
os.chroot(sys.argv[1])
os.chdir("/")
os.setgroups([])
os.setgid(65532)
os.setuid(65532)
os.execv(sys.argv[2], sys.argv[2:])
"""


class DockerfileTest(unittest.TestCase):
    """There is no Docker here; what its build would miss can be seen without."""

    def test_it_copies_everything_that_the_build_needs(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
        build, _, last = (ROOT / "Dockerfile").read_text().partition("\nFROM scratch\n")
        for line in re.findall(r"(?m)^COPY (.*)$", build):
            *sources, place = line.split()
            for source in sources:
                self.assertTrue(any(source.startswith(one[1:]) for one in ignored), f"{source} is ignored")
                target = folder / place / pathlib.Path(source).name if place.endswith("/") else folder / place
                target.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("node_modules"), dirs_exist_ok=True)
                else:
                    shutil.copy(ROOT / source, target)
        configure = ["cmake", "--preset", "release", "-DREPRIEVE_TESTS=OFF"]
        for command in (configure, ["ninja", "-C", "build/release", "-n", "reprieve"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        self.assertTrue((folder / "scripts" / "image-root").exists())
        self.assertIn("USER 65532:65532", last)


class PackagesTest(ClusterTestCase):
    options = {"controllers": components.CONTROLLERS, "kwok": True}

    @classmethod
    def setUpClass(cls):
        assert os.geteuid() == 0, "installing packages needs root"
        subprocess.run([ROOT / "scripts" / "setup", "package"], check=True)
        subprocess.run([ROOT / "scripts" / "package"], check=True, stdout=subprocess.DEVNULL)
        super().setUpClass()

    def pod_gets_its_place(self, name):
        self.objects.nodes(1)
        self.objects.pod(name, scheduler="reprieve")
        self.wait_running(name)

    def portable_kubeconfig(self):
        """The authority stands in it: another machine has other files."""
        text = pathlib.Path(self.cluster.kubeconfig("admin")).read_text()
        data = base64.b64encode(pathlib.Path(self.cluster.pki.authority).read_bytes()).decode()
        changed = re.sub(r"certificate-authority: *\S+", f"certificate-authority-data: {data}", text)
        self.assertNotEqual(changed, text)
        return changed

    def test_the_debian_package_is_a_service_and_goes_without_a_trace(self):
        machine = Machine(self.cluster.folder / "machine.log")
        self.addCleanup(machine.stop)

        def must(script, text=""):
            done = machine.run(script, text)
            self.assertEqual(done.returncode, 0, f"{script}: {done.stdout}{done.stderr}")
            return done.stdout

        places = "/etc /lib/systemd /usr/bin /usr/share/man /usr/share/bash-completion /var/lib /usr/share/doc"
        listing = f"find {places} -xdev -not -path '/var/lib/dpkg/*' -not -path '/var/lib/systemd/*' | sort"
        before = set(must(listing).splitlines())
        package = next(PACKAGES.glob("*.deb"))
        # By its bytes: the machine has a /tmp of its own, where the repository may be.
        must("base64 -d >/run/reprieve.deb", base64.b64encode(package.read_bytes()).decode())
        must("dpkg -i /run/reprieve.deb")
        self.assertEqual(must("kubectl-reprieve version"), must("reprieve version"))
        self.assertEqual(must("systemd-analyze verify reprieve.service 2>&1"), "")
        self.assertIn("man1/reprieve.1.gz", must("dpkg -L reprieve"))
        # Without a kubeconfig it does not start, and nothing is wrong.
        self.assertEqual(must("systemctl show reprieve -p ActiveState --value").strip(), "inactive")

        kubeconfig = self.portable_kubeconfig()
        must("cat > /etc/reprieve/kubeconfig; chgrp reprieve /etc/reprieve/kubeconfig; chmod 0640 /etc/reprieve/kubeconfig", kubeconfig)
        must(f"sed -i 's/127.0.0.1:8080/127.0.0.1:{free_port()}/' /lib/systemd/system/reprieve.service; systemctl daemon-reload")
        must("systemctl start reprieve")
        self.assertEqual(must("ps -o user= -p $(systemctl show reprieve -p MainPID --value)").strip(), "reprieve")
        self.pod_gets_its_place("served")
        must("systemctl stop reprieve")
        self.assertEqual(must("systemctl show reprieve -p Result --value").strip(), "success")

        must("dpkg -r reprieve && rm /etc/reprieve/kubeconfig && dpkg -P reprieve")
        self.assertEqual(machine.run("getent passwd reprieve").returncode, 2)
        ours = {path for path in set(must(listing).splitlines()) ^ before if "reprieve" in path}
        self.assertEqual(ours, set())

    def test_the_image_runs_as_nobody_on_a_read_only_root(self):
        archive = next(PACKAGES.glob("*-image.tar"))
        with tarfile.open(archive) as tar:
            manifest = json.load(tar.extractfile("manifest.json"))[0]
            config = json.load(tar.extractfile(manifest["Config"]))
            root = self.cluster.folder / "image"
            with tarfile.open(fileobj=tar.extractfile(manifest["Layers"][0]), mode="r:gz") as layer:
                layer.extractall(root, filter="tar")
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        self.assertLess(size, 40_000_000)
        self.assertEqual(config["config"]["User"], "65532:65532")
        kubeconfig = root / "etc" / "reprieve" / "kubeconfig"
        kubeconfig.write_text(self.portable_kubeconfig())
        kubeconfig.chmod(0o644)
        arguments = [*config["config"]["Entrypoint"], "run", "--kubeconfig", "/etc/reprieve/kubeconfig", "--lease-duration", "2s"]
        inside = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec python3 -c "$2" "$1" "${@:3}"'
        process = self.cluster.launch("image", ["unshare", "--mount", "bash", "-c", inside, "bash", root, ENTER, *arguments])
        self.addCleanup(process.kill)
        self.pod_gets_its_place("from-the-image")
        self.assertTrue(process.alive(), process.tail())

    def test_the_tarball_brings_its_libraries(self):
        with tarfile.open(next(PACKAGES.glob("*-linux-*.tar.gz"))) as tar:
            tar.extractall(self.cluster.folder / "tarball", filter="tar")
        program = next((self.cluster.folder / "tarball").glob("*/bin/reprieve"))
        libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        own = {"libc.so.6", "libm.so.6", "libresolv.so.2"}
        elsewhere = [line for line in libraries.splitlines() if "=> /" in line and "/lib/reprieve/" not in line]
        self.assertEqual({line.split()[0] for line in elsewhere}, own)
        kubeconfig = self.cluster.kubeconfig("admin")
        process = self.cluster.launch("tarball", [program, "run", "--kubeconfig", kubeconfig, "--lease-duration", "2s"])
        self.addCleanup(process.kill)
        self.pod_gets_its_place("from-the-tarball")

    def test_the_bill_of_materials_names_what_is_linked(self):
        bill = json.loads(next(PACKAGES.glob("*.spdx.json")).read_text())
        self.assertEqual(bill["spdxVersion"], "SPDX-2.3")
        names = {one["name"] for one in bill["packages"]}
        self.assertLessEqual({"reprieve", "libcurl4", "libssl3", "libfmt9", "libc6", "nlohmann-json3-dev"}, names)
        known = {one["SPDXID"] for one in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertLessEqual({one["relatedSpdxElement"] for one in bill["relationships"]}, known)


if __name__ == "__main__":
    unittest.main()
