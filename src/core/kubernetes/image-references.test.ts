import { expect, it } from 'vitest'
import { missingImages } from './image-references.ts'

it.each([
  [['registry.k8s.io/pause:3.10.2'], ['registry.k8s.io/pause:3.10.1'], ['registry.k8s.io/pause:3.10.2']],
  [['registry.k8s.io/pause:3.10.2'], ['registry.k8s.io/pause:3.10.2'], []],
  [['pause:3'], ['docker.io/library/pause:3'], []],
  [['team/pause:3'], ['docker.io/team/pause:3'], []],
  [['localhost/pause:3'], ['localhost/pause:3'], []],
])('%j of %j', (wanted, present, missing) => expect(missingImages(wanted, present)).toEqual(missing))
