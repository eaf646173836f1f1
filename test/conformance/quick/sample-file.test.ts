import { testDriver } from '../driver-suite.ts'

await testDriver('sample-file.ts')
