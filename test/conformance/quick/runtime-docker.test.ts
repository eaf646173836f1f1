import { testDriver } from '../driver-suite.ts'

await testDriver('runtime-docker.ts')
