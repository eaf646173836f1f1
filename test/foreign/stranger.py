"""Somebody who reboots nodes under kured's lock, as kured does: takes the annotation of its DaemonSet if nobody has it, by a
write that fails if somebody was faster; cordons a node, takes it down and up, uncordons it, and gives the lock back.

  stranger.py KUBECONFIG NAMESPACE/NAME SEED

At random moments, until SIGTERM; what is under way is ended first. Prints a line of JSON for each reboot.
"""

import json
import random
import signal
import sys
import threading
import time
from datetime import datetime, timezone

from kube import Api, Away, Refused

LOCK = "weave.works/kured-node-lock"
MARK = "example.com/rebooted-by-stranger"


class Stranger:
    def __init__(self, kubeconfig, place, seed):
        self.api = Api(kubeconfig)
        namespace, name = place.split("/")
        self.lock = f"/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}"
        self.random = random.Random(seed)
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(self.random.uniform(0.1, 1.0)):
            nodes = insist(lambda: self.api.ask("GET", "/api/v1/nodes"))["items"]
            free = [node["metadata"]["name"] for node in nodes if not node["spec"].get("taints")]
            node = self.random.choice(free)
            taken = now()
            if not self.take(node, taken):
                continue
            self.reboot(node)
            self.give_back()
            print(json.dumps({"node": node, "taken": taken, "given": now()}), flush=True)

    def take(self, node, created):
        text = json.dumps({"nodeID": node, "metadata": {"unschedulable": False}, "created": created, "TTL": 0})
        while True:
            found = insist(lambda: self.api.ask("GET", self.lock))["metadata"]
            owner = (found.get("annotations") or {}).get(LOCK)
            if owner is not None:
                # Ours already: a write whose answer was lost.
                return owner == text
            try:
                version = found["resourceVersion"]
                self.api.ask("PATCH", self.lock, {"metadata": {"resourceVersion": version, "annotations": {LOCK: text}}})
            except Refused as refusal:
                if refusal.status != 409:
                    raise
                return False
            except Away:
                time.sleep(0.1)

    def reboot(self, node):
        path = f"/api/v1/nodes/{node}"
        self.patch(path, {"metadata": {"annotations": {MARK: "yes"}}, "spec": {"unschedulable": True}})
        self.ready(path, "False")
        time.sleep(self.random.uniform(0.5, 2.0))
        self.ready(path, "True")
        self.patch(path, {"metadata": {"annotations": {MARK: None}}, "spec": {"unschedulable": None}})

    def ready(self, path, status):
        conditions = insist(lambda: self.api.ask("GET", path))["status"]["conditions"]
        changed = [{**one, "status": status} if one["type"] == "Ready" else one for one in conditions]
        self.patch(f"{path}/status", {"status": {"conditions": changed}})

    def give_back(self):
        self.patch(self.lock, {"metadata": {"annotations": {LOCK: None}}})

    def patch(self, path, body):
        insist(lambda: self.api.ask("PATCH", path, body))


def insist(work):
    """Until the server is there; each of these may be done twice."""
    while True:
        try:
            return work()
        except Away:
            time.sleep(0.2)


def now():
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(kubeconfig, place, seed):
    stranger = Stranger(kubeconfig, place, int(seed))
    signal.signal(signal.SIGTERM, lambda *_: stranger.ended.set())
    stranger.run()


main(*sys.argv[1:])
