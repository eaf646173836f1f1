import { expect, it } from 'vitest'
import { encodedPart, signedHeaders } from './signature.ts'

const keys = { accessKeyID: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
const now = new Date('2013-05-24T00:00:00Z')
const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

// The examples of the documentation of S3.
it.each([
  {
    name: 'an object',
    url: 'https://examplebucket.s3.amazonaws.com/test.txt',
    headers: { range: 'bytes=0-9' },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    name: 'a list',
    url: 'https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J',
    headers: {},
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
  {
    name: 'a question without a value',
    url: 'https://examplebucket.s3.amazonaws.com/?lifecycle',
    headers: {},
    signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  },
])('signs $name as S3 does', ({ url, headers, signature }) => {
  const signed = signedHeaders(
    { method: 'GET', url: new URL(url), headers, bodySum: empty },
    { keys, region: 'us-east-1', now },
  )
  expect(signed.authorization).toContain(`Signature=${signature}`)
})

it('signs the token of temporary credentials', () => {
  const url = new URL('https://examplebucket.s3.amazonaws.com/test.txt')
  const signing = { keys: { ...keys, sessionToken: 'abc' }, region: 'us-east-1', now }
  const signed = signedHeaders({ method: 'GET', url, headers: {}, bodySum: empty }, signing)
  expect(signed['x-amz-security-token']).toBe('abc')
  expect(signed.authorization).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,')
})

it('encodes what the standard encodes', () => {
  expect(encodedPart("a b/(c)*'!~_-.")).toBe('a%20b%2F%28c%29%2A%27%21~_-.')
})
