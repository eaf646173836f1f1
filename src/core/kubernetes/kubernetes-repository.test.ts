import { describe, expect, it } from 'vitest'
import { switchedToMinor } from './kubernetes-repository.ts'

const to = { major: 1, minor: 36 }

describe('switchedToMinor', () => {
  it.each([
    [
      'one line',
      'k.list',
      'deb [signed-by=/etc/apt/keyrings/v1.35/k.gpg] https://pkgs.k8s.io/core:/stable:/v1.35/deb/ /\n',
      'deb [signed-by=/etc/apt/keyrings/v1.35/k.gpg] https://pkgs.k8s.io/core:/stable:/v1.36/deb/ /\n',
    ],
    [
      'a mirror beside others, no slash at the end',
      'sources.list',
      '# deb https://pkgs.k8s.io/core:/stable:/v1.30/deb/ /\ndeb http://deb.debian.org/debian bookworm main\ndeb http://m/kubernetes/v1.35 /\n',
      '# deb https://pkgs.k8s.io/core:/stable:/v1.30/deb/ /\ndeb http://deb.debian.org/debian bookworm main\ndeb http://m/kubernetes/v1.36 /\n',
    ],
    [
      'deb822 with addresses on further lines',
      'k.sources',
      'Types: deb\nURIs: https://a/core:/stable:/v1.35/deb/\n https://b/kubernetes/v1.35/deb/\nSuites: /\nSigned-By: /etc/kube/v1.35/key.asc\n',
      'Types: deb\nURIs: https://a/core:/stable:/v1.36/deb/\n https://b/kubernetes/v1.36/deb/\nSuites: /\nSigned-By: /etc/kube/v1.35/key.asc\n',
    ],
    [
      'dnf, key kept',
      'k.repo',
      '[kubernetes]\nbaseurl=https://pkgs.k8s.io/core:/stable:/v1.35/rpm/\ngpgkey=https://pkgs.k8s.io/core:/stable:/v1.35/rpm/repodata/repomd.xml.key\nexclude=kubelet\n',
      '[kubernetes]\nbaseurl=https://pkgs.k8s.io/core:/stable:/v1.36/rpm/\ngpgkey=https://pkgs.k8s.io/core:/stable:/v1.35/rpm/repodata/repomd.xml.key\nexclude=kubelet\n',
    ],
    [
      'cri-o, which has its own versions',
      'c.list',
      'deb https://pkgs.k8s.io/addons:/cri-o:/stable:/v1.35/deb/ /\n',
      undefined,
    ],
    ['a stranger with a version', 'x.list', 'deb https://example.org/tool/v1.35/deb/ /\n', undefined],
    ['a disabled line', 'k.list', '#deb https://pkgs.k8s.io/core:/stable:/v1.35/deb/ /\n', undefined],
    [
      'the old repository without minors',
      'k.list',
      'deb https://apt.kubernetes.io/ kubernetes-xenial main\n',
      undefined,
    ],
  ])('%s', (_what, path, before, after) => {
    expect(switchedToMinor(path, before, to)).toBe(after)
  })

  it('is the same text when the entry names that minor already', () => {
    const text = 'deb https://pkgs.k8s.io/core:/stable:/v1.36/deb/ /\n'
    expect(switchedToMinor('k.list', text, to)).toBe(text)
  })
})
