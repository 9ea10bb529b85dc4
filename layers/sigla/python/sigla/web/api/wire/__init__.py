"""HTTP's JSON: requests into the model, the model into answers. The field names of the API are spelled here alone."""
