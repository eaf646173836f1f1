import { testDriver } from '../driver-suite.ts'

await testDriver('osimage-ostree.ts')
