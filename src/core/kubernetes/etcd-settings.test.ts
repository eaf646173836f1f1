import { describe, expect, it } from 'vitest'
import { accessOfService } from '../control-plane/etcd-access.ts'
import {
  etcdMinorsBetween,
  ownEndpoint,
  settingsOfArguments,
  settingsOfEnvironment,
  settingsOfFile,
} from './etcd-settings.ts'

// By the names etcd’s own documentation gives to its environment variables.
const environment = `## etcd(1) daemon options
# ETCD_NAME="default"
ETCD_ADVERTISE_CLIENT_URLS="https://10.0.0.1:2379"
ETCD_LISTEN_CLIENT_URLS=https://10.0.0.1:2379,https://127.0.0.1:2379
ETCD_TRUSTED_CA_FILE=/etc/ssl/etcd/ca.pem
ETCD_CERT_FILE='/etc/ssl/etcd/member.pem'
ETCD_KEY_FILE=/etc/ssl/etcd/member-key.pem
`
// By the names of etcd’s own configuration file.
const file = `name: 'default'
listen-client-urls: http://0.0.0.0:2379
advertise-client-urls: http://10.0.0.1:2379
client-transport-security:
  cert-file: /a.pem
  key-file: /a-key.pem
  client-cert-auth: true
  trusted-ca-file: /ca.pem
peer-transport-security:
  cert-file: /peer.pem
`

describe('where a member answers, and with which certificates it is asked', () => {
  it.each([
    [
      'environment',
      settingsOfEnvironment(environment),
      'https://10.0.0.1:2379',
      ['/etc/ssl/etcd/ca.pem', '/etc/ssl/etcd/member.pem', '/etc/ssl/etcd/member-key.pem'],
    ],
    ['file', settingsOfFile(file), 'http://10.0.0.1:2379', ['/ca.pem', '/a.pem', '/a-key.pem']],
    [
      'flags',
      settingsOfArguments(['/usr/bin/etcd', '--advertise-client-urls=http://10.0.0.1:2379', '--name', 'a']),
      'http://10.0.0.1:2379',
      [],
    ],
    [
      'etcdctl’s own',
      settingsOfEnvironment(`${environment}ETCDCTL_CERT=/admin.pem\nETCDCTL_KEY=/admin-key.pem\n`),
      'https://10.0.0.1:2379',
      ['/etc/ssl/etcd/ca.pem', '/admin.pem', '/admin-key.pem'],
    ],
    ['listens everywhere, tells nothing', { 'listen-client-urls': 'http://0.0.0.0:2379' }, undefined, []],
    ['nothing', settingsOfFile('{{'), undefined, []],
  ])('%s', (_, settings, endpoint, options) => {
    expect(ownEndpoint(settings)).toBe(endpoint)
    const { ca, certificate, key } = accessOfService(settings) ?? {}
    expect([ca, certificate, key].filter((path) => path !== undefined)).toEqual(options)
  })
})

it.each([
  ['3.5.9', '3.6.8-1', 1],
  ['3.4.23', '3.6.8+ds-1', 2],
  ['3.6.5', '1:3.6.8-1', 0],
  ['3.6.5', '4.0.0', undefined],
])('between %s and %s', (from, to, minors) => expect(etcdMinorsBetween(from, to)).toBe(minors))
