// What keeps kured from rebooting a node: alerts that fire, and pods that are there.

import { type GateSpec, maxGates } from '../../api/gate.ts'
import { webAddress } from '../../api/scalars.ts'
import type { DaemonReading } from './daemon-reading.ts'
import { withoutQuotes } from './go-values.ts'
import { selectorOf } from './kured-drain.ts'

/** kured waits for as long as it takes; a gate that does not hold calls for a person at some time. */
const patience = '24h'

export function alertGate(reading: DaemonReading): GateSpec | undefined {
  const given = withoutQuotes(reading.text('prometheus-url') ?? '')
  const url = given.replace(/\/\/[^/@]*@/, '//')
  const filter = reading.text('alert-filter-regexp') ?? ''
  const onlyMatching = reading.boolean('alert-filter-match-only')
  const onlyFiring = reading.boolean('alert-firing-only')
  if (url === '') return undefined
  if (!webAddress.safeParse(url).success) {
    reading.say('ToFillIn', 'prometheus-url', 'write it as http://… or https://…')
  }
  if (url !== given) {
    reading.say('ToFillIn', 'prometheus-url', 'a gate takes no password: let it in without, or set bearerToken')
  }
  const matchers = [
    ...(onlyFiring ? ['alertstate="firing"'] : []),
    // There a part of the name may match, here all of it must.
    ...(filter === '' ? [] : [`alertname${onlyMatching ? '=~' : '!~'}${JSON.stringify(`.*(?:${filter}).*`)}`]),
  ]
  reading.say(
    'Differs',
    'prometheus-url',
    `after ${patience} of alerts a person is called for; it goes on by itself when they end`,
  )
  return {
    name: 'alerts',
    type: 'Prometheus',
    timeout: patience,
    url: url.replace(/\/+$/, ''),
    query: `count(ALERTS{${matchers.join(',')}})`,
    max: 0,
    whenEmpty: 'Pass',
  }
}

/** One gate for each selector: any pod of the node that matches one of them keeps it. */
export function blockingPodGate(reading: DaemonReading): readonly GateSpec[] {
  const texts = reading.texts('blocking-pod-selector')
  const most = maxGates - 1
  if (texts.length > most) {
    reading.say(
      'ToFillIn',
      'blocking-pod-selector',
      `only ${most} of ${texts.length} fit: write the others as drain.rules`,
    )
  }
  return texts.slice(0, most).flatMap((text, index): readonly GateSpec[] => {
    const selector = selectorOf(text)
    if (selector === undefined) {
      reading.say('ToFillIn', 'blocking-pod-selector', `"${text}" is no label selector`)
      return []
    }
    return [
      {
        name: `no-blocking-pods-${index + 1}`,
        type: 'Cel',
        timeout: patience,
        object: { apiVersion: 'v1', resource: 'pods', selector },
        expression: onThisNode,
      },
    ]
  })
}

const onThisNode =
  "objects.all(pod, pod.?spec.?nodeName.orValue('') != node.metadata.name || pod.?status.?phase.orValue('') in ['Succeeded', 'Failed', 'Unknown'])"
