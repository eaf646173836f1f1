import { describe, expect, it } from 'vitest'
import { answerOf, justReboot, unseen, type ViewTraits } from '../../../test/samples/check-views.ts'
import { deprecatedUse } from './deprecated-metric.ts'
import { apisThatGo, removedApis } from './removed-apis.ts'
import { removedApisInUse } from './removed-apis-in-use.ts'

const use = (removedIn: number) => ({ deprecated: { seen: [{ api: 'shop.example/v1beta1 carts', removedIn }] } })
const kept = { api: 'shop.example/v1beta1 carts', removedIn: 36, objects: 7, first: ['Cart a', 'Cart b'] }

describe('the check RemovedApis', () => {
  it.each<[string, ViewTraits, string | undefined]>([
    ['nobody asked', {}, 'Passed: nobody asked for an API that goes'],
    ['no Kubernetes work', { spec: justReboot, sights: use(30) }, undefined],
    [
      'somebody asked for one that goes',
      { sights: use(36) },
      'Failed: shop.example/v1beta1 carts (gone in 1.36) is asked for: move its users to a newer version first',
    ],
    [
      'for one that goes later',
      { sights: use(37) },
      'Warning: v1.36.3 still has them, later ones have not: shop.example/v1beta1 carts (gone in 1.37)',
    ],
    [
      'objects are kept through one that goes',
      { sights: { stored: { seen: [kept] } } },
      'Failed: shop.example/v1beta1 carts (gone in 1.36) keeps Cart a, Cart b and 5 more: move its users to a newer version first',
    ],
    [
      'one of Kubernetes itself: with where that is written',
      {
        sights: {
          stored: { seen: [{ ...kept, api: 'flowcontrol.apiserver.k8s.io/v1beta3 flowschemas', removedIn: 32 }] },
        },
      },
      'Failed: flowcontrol.apiserver.k8s.io/v1beta3 flowschemas (gone in 1.32) keeps Cart a, Cart b and 5 more: move its users to a newer version first; see https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-32',
    ],
    ['the metric cannot be read', { sights: { deprecated: unseen } }, `Unknown: ${unseen.unseen}`],
    ['objects cannot be read', { sights: { stored: unseen } }, `Unknown: ${unseen.unseen}`],
  ])('%s', (_name, traits, answer) => expect(answerOf(removedApisInUse, traits)).toBe(answer))
})

describe('a line of the metrics page', () => {
  const line = (labels: string, value = 1) => `apiserver_requested_deprecated_apis{${labels}} ${value}`
  const labels = 'group="shop.example",removed_release="1.37",resource="carts",subresource="",version="v1beta1"'
  it.each([
    ['an API that goes', line(labels), { api: 'shop.example/v1beta1 carts', removedIn: 37 }],
    [
      'of the core group',
      line('group="",removed_release="1.40",resource="endpoints",subresource="",version="v1"'),
      { api: 'v1 endpoints', removedIn: 40 },
    ],
    ['one that goes at no known time', line(labels.replace('1.37', '')), undefined],
    ['nobody asked', line(labels, 0), undefined],
    ['another metric', `apiserver_request_total{${labels}} 1`, undefined],
    ['a comment', '# TYPE apiserver_requested_deprecated_apis gauge', undefined],
  ])('%s', (_name, text, found) => expect(deprecatedUse(text)).toEqual(found))
})

it('kinds are named as the API server names them', () => {
  expect(removedApis.map(({ plural }) => plural)).toEqual([
    ...['flowschemas', 'prioritylevelconfigurations', 'flowschemas', 'prioritylevelconfigurations'],
    ...['ipaddresses', 'servicecidrs', 'volumeattributesclasses'],
    ...['deviceclasses', 'resourceslices', 'resourceclaims', 'resourceclaimtemplates'],
  ])
})

it('the APIs that go between two versions', () => {
  const versions = (from: number, to: number) => [...new Set(apisThatGo(from, to).map(({ apiVersion }) => apiVersion))]
  expect(versions(28, 29)).toEqual(['flowcontrol.apiserver.k8s.io/v1beta2'])
  expect(versions(31, 32)).toEqual(['flowcontrol.apiserver.k8s.io/v1beta3'])
  expect(versions(32, 36)).toEqual([])
  expect(versions(36, 37)).toEqual(['networking.k8s.io/v1beta1', 'storage.k8s.io/v1beta1'])
})
