"""Counts how many nodes were away at once: unschedulable, or not Ready. It knows nothing of who took them or why.

  witness.py watch KUBECONFIG RESULT             from a watch of its own, until SIGTERM;
                                                 at SIGUSR1 it says when it has seen all of before
  witness.py audit AUDIT_LOG SINCE RESULT        from the API server's audit log, in the order of resource versions;
                                                 what was before resource version SINCE is known but not judged, and
                                                 nobody deletes a node: the log has no resource version of that

Writes RESULT, one JSON object: the most that were away, when, and which; the same for each zone, and for the moments in
which a node that a stranger had taken was among them.
"""

import json
import signal
import sys
import threading
import time

from kube import Api, Away, Refused

ZONE = "topology.kubernetes.io/zone"
STRANGER = "example.com/rebooted-by-stranger"
NODES = "/api/v1/nodes"


def is_away(node):
    conditions = node.get("status", {}).get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return node.get("spec", {}).get("unschedulable", False) or not ready


class Tally:
    def __init__(self):
        self.nodes = {}
        self.away = {}
        self.most = None
        self.zones = {}
        self.beside_stranger = None
        self.changes = 0

    def see(self, node, at, is_gone=False, is_judged=True):
        name = node["metadata"]["name"]
        before = name in self.away
        self.nodes[name] = not is_gone
        if not is_gone and is_away(node):
            labels = node["metadata"].get("labels") or {}
            annotations = node["metadata"].get("annotations") or {}
            self.away[name] = (labels.get(ZONE, ""), STRANGER in annotations)
        else:
            self.away.pop(name, None)
        self.changes += before != (name in self.away)
        if is_judged:
            self.judge(at)

    def judge(self, at):
        self.most = larger(self.most, list(self.away), at)
        for zone in {zone for zone, _ in self.away.values()}:
            names = [name for name, (of, _) in self.away.items() if of == zone]
            self.zones[zone] = larger(self.zones.get(zone), names, at)
        if any(by_stranger for _, by_stranger in self.away.values()):
            self.beside_stranger = larger(self.beside_stranger, list(self.away), at)

    def result(self, **more):
        nodes = sum(self.nodes.values())
        found = {"nodes": nodes, "changes": self.changes, "most": self.most, "zones": self.zones}
        return {**found, "besideStranger": self.beside_stranger, "awayNow": sorted(self.away), **more}


def larger(found, names, at):
    if found is not None and len(names) <= found["away"]:
        return found
    return {"away": len(names), "at": at, "names": sorted(names)}


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Watch:
    def __init__(self, kubeconfig):
        self.api = Api(kubeconfig)
        self.tally = Tally()
        self.since = self.version = None
        self.lists = self.outages = 0
        self.versions = {}

    def run(self):
        """For ever; whoever wants the result asks for it."""
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
            except Refused as refusal:
                if refusal.status != 410:
                    raise
                self.version = None
            except Away:
                self.outages += 1
                time.sleep(0.1)

    def list(self):
        page = self.api.ask("GET", NODES)
        self.lists += 1
        listed = {node["metadata"]["name"] for node in page["items"]}
        for name in [name for name in self.tally.nodes if name not in listed]:
            self.tally.see({"metadata": {"name": name}}, now(), is_gone=True)
            self.versions.pop(name, None)
        # One picture, not one change after the other: it is judged as a whole.
        for node in page["items"]:
            self.tally.see(node, now(), is_judged=False)
            self.note(node)
        self.tally.judge(now())
        self.version = page["metadata"]["resourceVersion"]
        self.since = self.since or self.version

    def watch(self):
        path = f"{NODES}?watch=1&allowWatchBookmarks=true&timeoutSeconds=30&resourceVersion={self.version}"
        for event in self.api.follow(path):
            if event["type"] == "ERROR":
                if event["object"].get("code") != 410:
                    raise Away(event["object"])
                raise Refused(410, event["object"].get("message"))
            node = event["object"]
            self.version = node["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self.tally.see(node, now(), is_gone=True)
                self.versions.pop(node["metadata"]["name"], None)
            elif event["type"] != "BOOKMARK":
                self.tally.see(node, now())
                self.note(node)

    def note(self, node):
        self.versions[node["metadata"]["name"]] = int(node["metadata"]["resourceVersion"])

    def catch_up(self):
        """Until all that has happened by now was seen by the watch."""
        wanted = {}
        for node in self.api.ask("GET", NODES)["items"]:
            wanted[node["metadata"]["name"]] = int(node["metadata"]["resourceVersion"])
        is_behind = lambda: any(self.versions.get(name, 0) < version for name, version in wanted.items())
        while is_behind() or any(name not in wanted for name in list(self.versions)):
            time.sleep(0.05)

    def result(self):
        return self.tally.result(since=self.since, until=self.version, lists=self.lists, outages=self.outages)


def audited(path, since):
    writes = {}
    requests = 0
    with open(path, encoding="utf8") as lines:
        for line in lines:
            # A server that was killed may leave half a line.
            if not line.endswith("}\n"):
                continue
            entry = json.loads(line)
            requests += entry["stage"] == "ResponseComplete"
            node = entry.get("responseObject") or {}
            if node.get("kind") != "Node" or entry["responseStatus"]["code"] >= 300:
                continue
            writes[int(node["metadata"]["resourceVersion"])] = (node, entry)
    tally = Tally()
    for version, (node, entry) in sorted(writes.items()):
        tally.see(node, entry["requestReceivedTimestamp"], is_judged=version > since)
        if version <= since:
            tally.changes = 0
    return tally.result(requests=requests, writes=len(writes))


def save(path, result):
    with open(path, "w", encoding="utf8") as file:
        json.dump(result, file)


def main(arguments):
    if arguments[0] == "audit":
        path, since, out = arguments[1:]
        save(out, audited(path, int(since)))
        return
    kubeconfig, out = arguments[1:]
    watch = Watch(kubeconfig)
    ended = threading.Event()
    asked = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    following = threading.Thread(target=watch.run, daemon=True)
    following.start()
    while watch.since is None and following.is_alive():
        time.sleep(0.05)
    print("watching", flush=True)
    while not ended.wait(0.2):
        if asked.is_set():
            asked.clear()
            watch.catch_up()
            print("caught up", flush=True)
        if not following.is_alive():
            sys.exit("the watch has ended")
    watch.catch_up()
    save(out, watch.result())


main(sys.argv[1:])
