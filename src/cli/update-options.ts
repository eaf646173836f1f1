// The options that say what an update is to do: the same for `update`, which does it, and for `plan`, which rehearses it.

import { Option } from 'commander'
import { verifications } from '../api/backup.ts'
import { backupPoints, etcdBackups } from '../api/backup-plan.ts'
import { checkNames } from '../api/preflight.ts'
import { durationText, kubernetesWish, objectName } from '../api/scalars.ts'
import { strategyTypes } from '../api/strategy.ts'
import { rebootChoices, rollbackChoices } from '../api/work.ts'
import { nodeCount, textOf, waveSizes, wholeNumber } from './usage.ts'

export function workOptions(): readonly Option[] {
  return [
    new Option(
      '--kubernetes <version>',
      'the Kubernetes version to bring the nodes to: v1.36.3, or 1.36.*, latest-patch, latest',
    ).argParser(
      textOf(kubernetesWish, 'It must be a full version such as v1.36.3, or 1.36.*, latest-patch or latest.'),
    ),
    new Option(
      '--os-image <image>',
      'image-based hosts: the operating system image, by tag, digest, or a tag with * for the newest',
    ),
    new Option('--os-packages <which>', 'package-based hosts: which packages to upgrade').choices(['Security', 'All']),
    new Option('--profile <name>', 'a NodeProfile to roll out'),
    new Option('--script <file>', 'a script to run on each node, drained'),
    new Option('--reboot <when>', 'whether to reboot each node after the work').choices([...rebootChoices]),
    new Option('--rollback <what>', 'what is undone on a node where a step fails').choices([...rollbackChoices]),
    new Option('-f, --filename <file>', 'a DirectUpdate as YAML').conflicts([
      ...['kubernetes', 'osImage', 'osPackages', 'profile', 'script', 'reboot'],
    ]),
    new Option('--name <name>', 'the name of the DirectUpdate').argParser(
      textOf(objectName, 'It must be lower-case letters, digits, "-" and ".".'),
    ),
    new Option('-l, --selector <labels>', 'only nodes with these labels, like pool=a'),
    new Option('--max-unavailable <count>', 'workers away at once: a number or a percentage').argParser(nodeCount),
    new Option('--strategy <type>', 'Rolling, Parallel, Canary or Batches (default: Rolling)').choices([
      ...strategyTypes,
    ]),
    new Option('--waves <sizes>', 'waves of one’s own: cumulative numbers or percentages, like 1,10%,100%').argParser(
      waveSizes,
    ),
    new Option('--soak <duration>', 'how long each wave but the last is looked at before the next begins').argParser(
      textOf(durationText, 'It must be a duration such as 30m.'),
    ),
    new Option('--skip <node...>', 'nodes to leave out'),
    new Option('--max-failures <count>', 'nodes that may fail before it stops').argParser(wholeNumber(0, 100_000)),
    new Option('--node-timeout <duration>', 'how long the work on one node may take').argParser(
      textOf(durationText, 'It must be a duration such as 30m.'),
    ),
    new Option('--skip-check <names...>', 'preflight checks whose answer does not count').choices([...checkNames]),
    new Option(
      '--operation-timeout <duration>',
      'how long all of it may take; time in which it is paused is not counted',
    ).argParser(textOf(durationText, 'It must be a duration such as 4h.')),
    ...backupOptions(),
  ]
}

function backupOptions(): readonly Option[] {
  return [
    new Option('--backup <when>', 'whether etcd is backed up first (default: IfConfigured)').choices([...etcdBackups]),
    new Option('--backup-store <name>', 'one of the policy’s backupStores (default: the first)').argParser(
      textOf(objectName, 'It must be lower-case letters, digits, "-" and ".".'),
    ),
    new Option('--backup-before <points...>', 'what a backup is made before (default: ControlPlane)').choices([
      ...backupPoints,
    ]),
    new Option('--backup-verify <how>', 'how each backup is checked (default: Hash)').choices([...verifications]),
    new Option('--backup-max-age <duration>', 'an older backup does not count (default: 1h)').argParser(
      textOf(durationText, 'It must be a duration such as 1h.'),
    ),
  ]
}
