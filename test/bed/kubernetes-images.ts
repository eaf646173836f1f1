// The container images of a release under the names kubeadm asks for, made of the built programs; and small ones for workloads.

import { copyFile, cp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type ContainerImage, writeImageArchive } from './container-image.ts'
import { controlPlanePrograms, nodePrograms } from './program-set.ts'
import { programFolder, sayToStderr } from './programs.ts'
import { runProgram } from './run-program.ts'
import { etcdVersion, kubernetesVersion, olderEtcdVersion } from './versions.ts'

/** Never resolved: images are imported, not pulled. */
export const imageRegistry = 'registry.bed'
/** busybox with httpd on port 80, sh, sleep and wget; its entry point serves a page that says "ok". */
export const webImage = `${imageRegistry}/web:1`
/** The same programs; its entry point sleeps for ever and ends at SIGTERM. */
export const sleeperImage = `${imageRegistry}/sleeper:1`

const pauseTags = ['3.10.1', '3.10.2']

// kubeadm's upgrade check runs "pause -v" as a Job; a sandbox reaps orphans and leaves at SIGTERM.
const pauseSource = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-v" {
		println("pause")
		return
	}
	c := make(chan os.Signal, 16)
	signal.Notify(c, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for s := range c {
		if s != syscall.SIGCHLD {
			os.Exit(0)
		}
		for {
			if p, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); p <= 0 {
				break
			}
		}
	}
}
`

interface Workshop {
  /** Where archives are written to. */
  readonly folder: string
  /** The Debian root that libraries and busybox are taken from. */
  readonly base: string
}

/** Writes the archives of all images of these releases; `pause`, `web` and `sleeper` come with them. */
export async function writeImages(workshop: Workshop, releases: readonly string[]): Promise<string[]> {
  await writeSmallImages(workshop)
  for (const release of releases) await writeReleaseImages(workshop, release)
  return (await readdir(workshop.folder))
    .filter((name) => name.endsWith('.tar'))
    .map((name) => join(workshop.folder, name))
}

async function writeSmallImages(workshop: Workshop): Promise<void> {
  const source = join(workshop.folder, 'pause')
  await mkdir(source)
  await writeFile(join(source, 'main.go'), pauseSource)
  const env = { GOFLAGS: '-buildvcs=false', GOWORK: 'off', CGO_ENABLED: '0' }
  await runProgram('go', ['build', '-trimpath', '-ldflags', '-s -w', '-o', 'pause', 'main.go'], { cwd: source, env })
  for (const tag of pauseTags) await writeProgramImage(workshop, `pause:${tag}`, [join(source, 'pause')])
  const busybox = async (root: string) => {
    await copyFile(join(workshop.base, 'bin/busybox'), join(root, 'bin/busybox'))
    for (const name of [
      'sh',
      'httpd',
      'sleep',
      'wget',
      'cat',
      'ls',
      'echo',
      'kill',
      'mkdir',
      'rm',
      'date',
      'env',
      'tail',
    ]) {
      await symlink('busybox', join(root, 'bin', name))
    }
    await mkdir(join(root, 'www'))
    await writeFile(join(root, 'www/index.html'), 'ok\n')
  }
  // A first process has no default answer to SIGTERM, and one that ignores it holds a reboot up for minutes.
  const untilTold = (work: string) => ['/bin/sh', '-c', `trap "exit 0" TERM; ${work}`]
  const serve = untilTold('httpd -f -p 80 -h /www & wait $!')
  await writeImage(workshop, { name: webImage, entrypoint: serve }, busybox)
  const sleep = untilTold('while :; do sleep 3600 & wait $!; done')
  await writeImage(workshop, { name: sleeperImage, entrypoint: sleep }, busybox)
}

async function writeReleaseImages(workshop: Workshop, version: string): Promise<void> {
  const set = { project: 'kubernetes', version, programs: [...controlPlanePrograms, ...nodePrograms] } as const
  const programs = await programFolder(set, sayToStderr)
  for (const program of controlPlanePrograms) {
    await writeProgramImage(workshop, `${program}:${version}`, [join(programs, program)])
  }
  // The tag is the one this kubeadm wants; the program inside is of the nearest version that is built.
  const etcd = version === kubernetesVersion ? etcdVersion : olderEtcdVersion
  const server = await programFolder({ project: 'etcd', version: etcd, programs: ['etcd'] }, sayToStderr)
  const tools = await programFolder(
    { project: 'etcd', version: etcdVersion, programs: ['etcdctl', 'etcdutl'] },
    sayToStderr,
  )
  const etcdFiles = [join(server, 'etcd'), join(tools, 'etcdctl'), join(tools, 'etcdutl')]
  await writeProgramImage(workshop, `etcd:${await etcdTag(programs, version)}`, etcdFiles)
  const proxy = join(programs, 'kube-proxy')
  await writeProgramImage(workshop, `kube-proxy:${version}`, [proxy], (root) => addPacketFilter(root, workshop.base))
}

async function etcdTag(programs: string, version: string): Promise<string> {
  const args = ['config', 'images', 'list', '--kubernetes-version', version, '--image-repository', imageRegistry]
  const list = await runProgram(join(programs, 'kubeadm'), args)
  const tag = new RegExp(`^${imageRegistry}/etcd:(.+)$`, 'm').exec(list)?.[1]
  if (tag === undefined) throw new Error(`kubeadm ${version} names no etcd image`)
  return tag
}

/** iptables, its extensions and conntrack, which kube-proxy runs, with the libraries of all of them. */
async function addPacketFilter(root: string, base: string): Promise<void> {
  for (const folder of ['lib', 'lib64']) await symlink(`usr/${folder}`, join(root, folder))
  const programs = ['/usr/sbin/xtables-nft-multi', '/usr/sbin/xtables-legacy-multi', '/usr/sbin/conntrack']
  const [platform = ''] = (await readdir(join(base, 'usr/lib'))).filter((name) => name.endsWith('-linux-gnu'))
  const xtables = join('/usr/lib', platform, 'xtables')
  await cp(join(base, xtables), join(root, xtables), { recursive: true, verbatimSymlinks: true })
  const extensions = (await readdir(join(base, xtables))).map((name) => join(xtables, name))
  const listed = await runProgram('chroot', [base, 'ldd', ...programs, ...extensions])
  const libraries = [...listed.matchAll(/(?:=> |^\s+)(\/\S+) \(/gm)].map(([, path = '']) =>
    path.replace(/^\/lib/, '/usr/lib'),
  )
  for (const path of new Set([...programs, ...libraries])) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await copyFile(join(base, path), join(root, path))
  }
  for (const family of ['iptables', 'ip6tables']) {
    for (const name of [family, `${family}-save`, `${family}-restore`]) {
      await symlink('xtables-nft-multi', join(root, 'usr/sbin', name))
    }
  }
}

async function writeProgramImage(
  workshop: Workshop,
  name: string,
  programs: readonly string[],
  add: (root: string) => Promise<void> = async () => undefined,
): Promise<void> {
  const entrypoint = programs.slice(0, 1).map((program) => join('/usr/local/bin', basename(program)))
  await writeImage(workshop, { name: `${imageRegistry}/${name}`, entrypoint }, async (root) => {
    for (const program of programs) await copyFile(program, join(root, 'usr/local/bin', basename(program)))
    await add(root)
  })
}

async function writeImage(
  { folder }: Workshop,
  image: Omit<ContainerImage, 'root'>,
  fill: (root: string) => Promise<void>,
): Promise<void> {
  const root = join(folder, 'root')
  try {
    for (const name of ['bin', 'usr/local/bin', 'tmp', 'etc', 'run']) await mkdir(join(root, name), { recursive: true })
    await fill(root)
    await writeImageArchive({ ...image, root }, join(folder, `${basename(image.name).replace(':', '-')}.tar`))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
