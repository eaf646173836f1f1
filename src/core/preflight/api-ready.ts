import { type Check, failed, passed, seeing } from './check.ts'

export const apiReady: Check = {
  name: 'ApiReady',
  judge: seeing(
    ({ api }) => api,
    (health) =>
      health.ready
        ? passed('the API server says it is ready')
        : failed(`the API server is not ready: ${health.failing}`),
  ),
}
