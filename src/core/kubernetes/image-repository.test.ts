import { expect, it } from 'vitest'
import { imageRepositoryOf } from './image-repository.ts'

it.each([
  ['its own', 'kind: ClusterConfiguration\nimageRepository: registry.example/k8s\n', 'registry.example/k8s'],
  ['none named', 'kind: ClusterConfiguration\n', 'registry.k8s.io'],
  ['no record', undefined, 'registry.k8s.io'],
  ['no YAML', '{', 'registry.k8s.io'],
])('where the images come from: %s', (_name, record, repository) => expect(imageRepositoryOf(record)).toBe(repository))
